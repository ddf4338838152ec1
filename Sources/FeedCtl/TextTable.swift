internal import FeedText

/// A column of a table: its header, and what it has of each row.
package struct TextColumn<Row> {
    fileprivate let header: String
    /// Whether it holds numbers, which are aligned to the right.
    fileprivate let isNumeric: Bool
    fileprivate let cell: (Row) -> String

    package static func text(_ header: String, _ cell: @escaping (Row) -> String) -> Self {
        Self(header: header, isNumeric: false, cell: cell)
    }

    package static func number(_ header: String, _ cell: @escaping (Row) -> String) -> Self {
        Self(header: header, isNumeric: true, cell: cell)
    }
}

/// A table for people: one line a row, columns two spaces apart, the last one cut if necessary.
package struct TextTable {
    private let headers: [String]
    private let isNumeric: [Bool]
    /// The cells, which are safe to print.
    private let rows: [[String]]

    package init<Row>(_ rows: [Row], _ columns: [TextColumn<Row>]) {
        headers = columns.map(\.header)
        isNumeric = columns.map(\.isNumeric)
        var cells: [[String]] = []
        for row in rows { cells.append(columns.map { VisibleText.line($0.cell(row)) }) }
        self.rows = cells
    }

    package func rendered(_ style: TextStyle) -> String {
        let text = rendered(columnCount: style.columnCount)
        guard style.isBold, let end = text.firstIndex(of: "\n") else { return text }
        return "\u{1B}[1m\(text[..<end])\u{1B}[0m\(text[end...])"
    }

    /// The table with a line break after each line, no wider than `columnCount`; nil is no limit.
    ///
    /// The last column is cut to fit, but not below ten columns.
    package func rendered(columnCount: Int?) -> String {
        let lines = [headers] + rows
        let widths = headers.indices.map { index in
            lines.map { $0[index].columnCount }.max() ?? 0
        }
        let before = widths.dropLast().reduce(0) { $0 + $1 + Self.gap.count }
        let lastWidth = columnCount.map { max(Self.narrowest, $0 - before) }
        return lines.map { cells in
            var padded = zip(cells, widths).enumerated().map { index, cell in
                pad(cell.0, to: cell.1, isNumeric: isNumeric[index])
            }
            if let last = cells.last, isNumeric.last == false {
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

/// Names and values of one thing, a line each, for people.
package struct FieldList {
    private var fields: [(name: String, value: String)] = []

    package init() {}

    /// Adds a field; one without a value is left out, and the value is made safe to print.
    package mutating func add(_ name: String, _ value: String) {
        guard !value.isEmpty else { return }
        fields.append((name, VisibleText.line(value)))
    }

    /// The fields with their values aligned, and a line break after each line.
    package func rendered() -> String {
        let width = fields.map(\.name.count).max() ?? 0
        return fields.map { name, value in
            name + String(repeating: " ", count: width - name.count + 2) + value + "\n"
        }.joined()
    }
}

extension Character {
    /// The columns that a terminal gives to the character: 0, 1 or 2.
    ///
    /// Characters of UAX #11's classes W and F and emoji in colour are wide.
    package var columnCount: Int {
        if isASCII { return 1 }
        let scalars = unicodeScalars
        guard let first = scalars.first else { return 0 }
        if scalars.contains(where: { $0.isWide }) { return 2 }
        // Variation selector 16 turns a character that is text by itself into a picture.
        if first.properties.isEmoji, scalars.contains("\u{FE0F}") { return 2 }
        return scalars.allSatisfy { $0.isZeroWidth } ? 0 : 1
    }
}

extension String {
    /// The columns that a terminal gives to the text, which holds no control characters.
    package var columnCount: Int { reduce(0) { $0 + $1.columnCount } }

    /// The text cut to a number of columns, with an ellipsis in the last one if something is
    /// missing.
    package func truncated(toColumns limit: Int) -> String {
        guard columnCount > limit else { return self }
        guard limit > 0 else { return "" }
        var kept = ""
        var room = limit - 1
        for character in self {
            room -= character.columnCount
            guard room >= 0 else { break }
            kept.append(character)
        }
        return kept + "…"
    }
}

extension Unicode.Scalar {
    fileprivate var isWide: Bool {
        if properties.isEmojiPresentation { return true }
        return Self.wideRanges.contains { $0.contains(value) }
    }

    fileprivate var isZeroWidth: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: true
        default: false
        }
    }

    /// Classes W and F of EastAsianWidth.txt without emoji; neighbours are joined over gaps.
    private static let wideRanges: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF,
        0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6B,
        0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18D08, 0x1AFF0...0x1B2FB, 0x1F200...0x1F265,
        0x20000...0x2FFFD, 0x30000...0x3FFFD,
    ]
}
