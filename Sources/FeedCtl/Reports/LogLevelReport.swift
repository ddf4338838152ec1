/// The answer to a new level of the log.
package struct LogLevelReport: Report {
    /// The least level of the log's lines from now on.
    package let level: String

    /// A report of the level.
    package init(level: String) {
        self.level = level
    }

    package func text(_ style: TextStyle) -> String {
        "The log has lines of the level \(level) and above.\n"
    }
}
