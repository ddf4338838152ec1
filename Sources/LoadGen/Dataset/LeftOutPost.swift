internal import FeedDataset

/// A post of a file that no feed takes: the run reports it and never cuts it to fit.
package struct LeftOutPost: Sendable, Equatable {
    /// The line of the file that it begins on.
    package var line: Int
    /// The field at fault, as the contract names it.
    package var field: String
    /// The cause, from the names that the service gives.
    package var reason: String
    /// What the file has where that is no number from 0 up, safe to print; else empty.
    package var value: String
    /// What the field has, in its unit; 0 where `value` tells it.
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
        value: String = "",
        actual: UInt64,
        limit: UInt64,
        message: String
    ) {
        self.line = line
        self.field = field
        self.reason = reason
        self.value = value
        self.actual = actual
        self.limit = limit
        self.message = message
    }
}

extension LeftOutPost {
    /// A post that is left out for what the reader of its file found.
    init(_ rejection: RejectedPost) {
        self.init(
            line: rejection.line,
            field: rejection.field,
            reason: rejection.cause.rawValue,
            value: rejection.value,
            actual: 0,
            limit: rejection.limit,
            message: rejection.message
        )
    }
}
