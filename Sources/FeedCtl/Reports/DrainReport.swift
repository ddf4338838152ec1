/// The answer to a drain.
package struct DrainReport: Report {
    /// Whether the service stops; false is an error and no report.
    package let isDraining: Bool

    /// A report of the drain.
    package init(isDraining: Bool) {
        self.isDraining = isDraining
    }

    package func text(_ style: TextStyle) -> String {
        "The service stops: it finishes what it has received.\n"
    }
}
