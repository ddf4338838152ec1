/// A difference between a store and the model that a run has found.
package struct Difference: Error, CustomStringConvertible {
    /// What differs.
    package var description: String

    /// A difference in words.
    package init(description: String) {
        self.description = description
    }
}
