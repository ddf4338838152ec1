package import FeedDataset

/// A post of a file that no feed accepts: an import reports it and never shortens it to fit.
///
/// Its encoding has no message, which programs make from the other fields.
package struct LeftOutPost: Sendable, Equatable, Encodable {
    /// The line of the file that it begins on.
    package var line: Int
    /// The field at fault, as the contract names it.
    package var field: String
    /// The cause, from the names that the service gives.
    package var reason: String
    /// The value in the file where that is no number from 0 up, safe to print; otherwise empty.
    package var value: String
    /// The field's value, in its unit, to be compared with `limit`; 0 where `value` holds it.
    package var actual: UInt64
    /// The limit that the field passed; 0 where the post was left out for another reason.
    package var limit: UInt64
    /// The fault, as a sentence.
    package var message: String

    private enum CodingKeys: CodingKey {
        case line, field, reason, value, actual, limit
    }

    /// A post that is left out for this reason.
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

    /// A post that is left out because the reader of its file rejected it.
    package init(_ rejection: RejectedPost) {
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
