/// What a terminal shows of a program's output, as far as programs of this project control it.
///
/// It knows the line break, the first column, and of the escape sequences of ECMA-48: the first row (`H`),
/// erasing to the end of the line (`K`) and of the screen (`J`), and which screen is shown.
package struct TerminalScreen: Sendable, Equatable {
    /// The rows, without spaces at their ends.
    package var rows: [String] {
        cells.map { row in
            String(row.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// Whether the program has a screen of its own, which the former one follows.
    package private(set) var isOwn = false
    /// Whether the cursor is shown.
    package private(set) var hasCursor = true

    private var cells: [[Character]] = [[]]
    private var row = 0
    private var column = 0
    private var unread: [UInt8] = []

    package init() {}

    /// Takes bytes of the program, however they were split.
    package mutating func receive(_ bytes: [UInt8]) {
        unread += bytes
        // A character or a sequence may have come in part only.
        while let byte = unread.first {
            if byte == 0x1B {
                let end = unread.dropFirst(2).firstIndex { $0 >= 0x40 }
                guard let end else { return }
                control(String(decoding: unread[2...end], as: UTF8.self))
                unread.removeSubrange(...end)
            } else {
                let count = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
                guard unread.count >= count else { return }
                show(Character(String(decoding: unread[..<count], as: UTF8.self)))
                unread.removeSubrange(..<count)
            }
        }
    }

    private mutating func control(_ sequence: String) {
        switch sequence {
        case "H": (row, column) = (0, 0)
        case "K": cells[row].removeSubrange(min(column, cells[row].count)...)
        case "J":
            cells[row].removeSubrange(min(column, cells[row].count)...)
            cells.removeSubrange((row + 1)...)
        case "?1049h": isOwn = true
        case "?1049l": isOwn = false
        case "?25h": hasCursor = true
        case "?25l": hasCursor = false
        default: break
        }
    }

    private mutating func show(_ character: Character) {
        switch character {
        case "\r": column = 0
        case "\n", "\r\n":
            row += 1
            if row == cells.count { cells.append([]) }
        default:
            while cells[row].count <= column { cells[row].append(" ") }
            cells[row][column] = character
            column += 1
        }
    }
}
