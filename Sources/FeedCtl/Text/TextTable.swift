internal import FeedText

/// A table for people: one line a row, columns two spaces apart, the last one cut where necessary.
package struct TextTable {
    /// One column.
    package struct Column {
        /// The text above the column.
        package let header: String
        /// Whether it holds numbers, which are aligned to the right.
        package let isNumeric: Bool

        /// A column of texts.
        package static func text(_ header: String) -> Self {
            Self(header: header, isNumeric: false)
        }

        /// A column of numbers.
        package static func number(_ header: String) -> Self {
            Self(header: header, isNumeric: true)
        }
    }

    private let columns: [Column]
    private var rows: [[String]] = []

    /// A table without rows.
    package init(_ columns: [Column]) {
        self.columns = columns
    }

    /// Adds a row; its cells are made safe to print.
    package mutating func append(_ cells: [String]) {
        precondition(cells.count == columns.count, "A row has a cell for each column.")
        rows.append(cells.map { VisibleText.line($0) })
    }

    /// The table in a style.
    package func rendered(_ style: TextStyle) -> String {
        let text = rendered(columnCount: style.columnCount)
        guard style.isBold, let end = text.firstIndex(of: "\n") else { return text }
        return "\u{1B}[1m\(text[..<end])\u{1B}[0m\(text[end...])"
    }

    /// The table with a line break after each line, no wider than `columnCount`; nil is no limit.
    ///
    /// The last column is cut to fit, but not below ten columns.
    package func rendered(columnCount: Int?) -> String {
        let lines = [columns.map(\.header)] + rows
        let widths = columns.indices.map { index in
            lines.map { $0[index].columnCount }.max() ?? 0
        }
        let before = widths.dropLast().reduce(0) { $0 + $1 + Self.gap.count }
        let lastWidth = columnCount.map { max(Self.narrowest, $0 - before) }
        return lines.map { cells in
            var padded = zip(cells, widths).enumerated().map { index, cell in
                pad(cell.0, to: cell.1, isNumeric: columns[index].isNumeric)
            }
            if let last = cells.last, let lastColumn = columns.last, !lastColumn.isNumeric {
                padded[padded.count - 1] = lastWidth.map { last.truncated(toColumns: $0) } ?? last
            }
            return Self.trimmed(padded.joined(separator: Self.gap)) + "\n"
        }.joined()
    }

    private static let gap = "  "
    private static let narrowest = 10

    private static func trimmed(_ line: String) -> Substring {
        line[..<(line.lastIndex { $0 != " " }.map(line.index(after:)) ?? line.startIndex)]
    }

    private func pad(_ cell: String, to width: Int, isNumeric: Bool) -> String {
        let space = String(repeating: " ", count: width - cell.columnCount)
        return isNumeric ? space + cell : cell + space
    }
}
