/// Why a file of posts cannot be read on; what was read before stands.
package enum DatasetError: Error, Equatable, Sendable {
    /// The file has no header, and so no columns.
    case empty
    /// The header lacks a column that posts need.
    case missingColumn(String)
    /// The header names a column twice.
    case repeatedColumn(String)
    /// A line has more or fewer fields than the header.
    case fieldCount(line: Int, actual: Int, expected: Int)
    /// A field in quotes goes on behind its closing quote.
    case textAfterQuote(line: Int)
    /// The file ends within a field in quotes, which begins on this line.
    case unclosedQuote(line: Int)
    /// A record is longer than any of posts, most often for want of a closing quote.
    case recordTooLong(line: Int, limit: Int)
    /// A field is not UTF-8.
    case badText(line: Int, column: String)
    /// A field is not the number that its column has.
    case badNumber(line: Int, column: String, value: String)
}

extension DatasetError: CustomStringConvertible {
    /// What is wrong, with the line and the values, safe to print.
    package var description: String {
        switch self {
        case .empty:
            "The file is empty; its first line names the columns."
        case .missingColumn(let name):
            "The first line names no column \(quoted(name))."
        case .repeatedColumn(let name):
            "The first line names the column \(quoted(name)) twice."
        case .fieldCount(let line, let actual, let expected):
            "Line \(line) has \(actual) fields; the first line names \(expected) columns."
        case .textAfterQuote(let line):
            "Line \(line) has a field that goes on behind its closing quote."
        case .unclosedQuote(let line):
            "Line \(line) begins a field in quotes that the file never closes."
        case .recordTooLong(let line, let limit):
            "Line \(line) begins a record of more than \(limit) bytes; is a quote left open?"
        case .badText(let line, let column):
            "Line \(line) has text in \(quoted(column)) that is not UTF-8."
        case .badNumber(let line, let column, let value):
            "Line \(line) has \(quoted(value)) in \(quoted(column)), which is no number from 0 up."
        }
    }
}

extension DatasetError {
    /// What a file says, in quotes: its beginning, with ASCII for what a terminal may obey.
    private func quoted(_ text: String) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(Self.shownScalarCount) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                shown.append(contentsOf: scalar.escaped(asASCII: true).unicodeScalars)
            default:
                shown.append(scalar)
            }
        }
        let isWhole = text.unicodeScalars.count <= Self.shownScalarCount
        return "\"\(String(shown))\(isWhole ? "" : "…")\""
    }

    /// A field may be megabytes.
    private static var shownScalarCount: Int { 60 }
}
