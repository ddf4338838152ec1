/// A post of a file that has a value which no post may have; the posts around it are valid.
package struct RejectedPost: Error, Equatable, Sendable {
    /// What kind of value is wrong; the raw value is the service's name for the cause.
    package enum Cause: String, Sendable {
        /// A text is not UTF-8.
        case badText = "BAD_TEXT"
        /// A count is no whole number that fits 64 bits.
        case badCount = "BAD_COUNT"
        /// A time is no number of seconds in the range of times.
        case badTime = "BAD_TIME"
    }

    /// The line of the file that the post begins on, counted from 1.
    package let line: Int
    /// The name that the file gives the column.
    package let column: String
    /// The name that the contract gives the field.
    package let field: String
    /// What kind of value is wrong.
    package let cause: Cause
    /// The start of the value, safe to print: U+FFFD stands for bytes that are not UTF-8, and
    /// `(empty)` for no bytes.
    package let value: String
    /// The bound that the value passes; 0 for a value that is below 0 or no number at all.
    package let limit: UInt64
    /// What is wrong, in a sentence with the column, the value and the limits; safe to print.
    package let message: String

    /// A post that is rejected for the value of one column.
    ///
    /// - Parameters:
    ///   - line: The line that the post begins on.
    ///   - column: The column's name in the file.
    ///   - field: What the column says of posts.
    ///   - cause: What kind of value is wrong.
    ///   - value: The whole value.
    ///   - time: How the file's times are written.
    init(
        line: Int,
        column: String,
        field: DatasetField,
        cause: Cause,
        value: String,
        time: TimeFormat
    ) {
        self.line = line
        self.column = column
        self.field = field.contractName
        self.cause = cause
        self.value = value.isEmpty ? "(empty)" : value.printableStart
        let maximum =
            switch cause {
            case .badText: UInt64(0)
            case .badCount: UInt64.max
            case .badTime: time.maximum
            }
        let isTooLarge = maximum > 0 && (Double(value) ?? 0) >= Double(maximum)
        limit = isTooLarge ? maximum : 0
        let expected =
            switch cause {
            case .badText: "not UTF-8"
            case .badCount: "no whole number from 0 to \(maximum)"
            case .badTime: time.expectation
            }
        message = "\(column.quotedStart) is \(value.quotedStart), which is \(expected)."
    }
}
