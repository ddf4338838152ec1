internal import FeedText

/// Why a file of posts cannot be read on: its structure is broken.
///
/// The posts that were read before are valid.
package enum DatasetError: Error, Equatable, Sendable {
    /// The file has no header, and so no columns.
    case empty
    /// The header lacks a column that posts need or that `--columns` names.
    case missingColumn(String, for: DatasetField, among: [String])
    /// The header names a column that is read twice.
    case repeatedColumn(String)
    /// A line has more or fewer fields than the header.
    case fieldCount(line: Int, actual: Int, expected: Int)
    /// A field in quotes continues after its closing quote.
    case textAfterQuote(line: Int)
    /// The file ends within a field in quotes, which begins on this line.
    case unclosedQuote(line: Int)
    /// A record is longer than any of posts, most often for want of a closing quote.
    case recordTooLong(line: Int, limit: Int)
    /// The name of a column is not UTF-8; columns are counted from 1.
    case badColumnName(line: Int, column: Int)
}

extension DatasetError: CustomStringConvertible {
    /// What is wrong, with the line and the values, safe to print.
    package var description: String {
        switch self {
        case .empty:
            "The file is empty; its first line names the columns."
        case .missingColumn(let name, let field, let names):
            "The first line names no column \(name.quotedStart), but \(names.quotedList); "
                + "--columns \(field.rawValue)=NAME says which has the \(field.rawValue)."
        case .repeatedColumn(let name):
            "The first line names the column \(name.quotedStart) twice."
        case .fieldCount(let line, let actual, let expected):
            "Line \(line) has \(actual) fields; the first line names \(expected) columns."
        case .textAfterQuote(let line):
            "Line \(line) has a field that continues after its closing quote."
        case .unclosedQuote(let line):
            "Line \(line) begins a field in quotes that the file never closes."
        case .recordTooLong(let line, let limit):
            "Line \(line) begins a record of more than \(limit) bytes; is a quote left open?"
        case .badColumnName(let line, let column):
            "Line \(line) names the columns, and the name of column \(column) is not UTF-8."
        }
    }
}

extension String {
    /// The first 60 scalars in quotes, safe to print.
    var quotedStart: String { "\"\(printableStart)\"" }

    /// The first 60 scalars, safe to print, with an ellipsis where the text is longer.
    var printableStart: String { VisibleText.line(self, atMost: 60) }
}

extension [String] {
    /// The first 20 texts as ``String/quotedStart``, and how many more there are.
    var quotedList: String {
        let shown = prefix(20).map(\.quotedStart).joined(separator: ", ")
        return count > 20 ? "\(shown) and \(count - 20) more" : shown
    }
}
