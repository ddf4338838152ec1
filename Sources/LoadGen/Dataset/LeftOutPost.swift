/// A post of a file that the service does not take: it is reported, and never cut to fit.
package struct LeftOutPost: Sendable, Equatable {
    /// The line of the file that it begins on.
    package var line: Int
    /// The field at fault, as the contract names it.
    package var field: String
    /// The cause, from the names that the service gives.
    package var reason: String
    /// What the field has, in its unit.
    package var actual: UInt64
    /// What it may have; 0 where there is no such number.
    package var limit: UInt64
    /// What is wrong, in a sentence.
    package var message: String

    /// A post that is left out for this.
    package init(
        line: Int,
        field: String,
        reason: String,
        actual: UInt64,
        limit: UInt64,
        message: String
    ) {
        self.line = line
        self.field = field
        self.reason = reason
        self.actual = actual
        self.limit = limit
        self.message = message
    }
}
