import FeedCtl
import Testing

/// Tables and lists of fields for people.
struct TextTableTests {
    static func table(_ titles: [String]) -> TextTable {
        var table = TextTable([.number("N"), .text("NAME"), .text("TITLE")])
        for (index, title) in titles.enumerated() {
            table.append(["\(index * 10)", index == 0 ? "日本" : "ab", title])
        }
        return table
    }

    @Test func alignsByColumnsOfTheTerminal() {
        #expect(
            Self.table(["Apple", "Pear"]).rendered(columnCount: nil) == """
                 N  NAME  TITLE
                 0  日本  Apple
                10  ab    Pear

                """
        )
    }

    @Test func cutsTheLastColumnToTheTerminal() {
        let lines = Self.table([String(repeating: "x", count: 50), "short"])
            .rendered(columnCount: 30).split(separator: "\n")
        #expect(lines[1].hasSuffix("xxxx…"))
        #expect(lines.allSatisfy { String($0).columnCount <= 30 })
    }

    @Test func cutsNothingWhereNobodyLooks() {
        let title = String(repeating: "x", count: 500)
        #expect(Self.table([title]).rendered(columnCount: nil).contains(title))
    }

    @Test func leavesTenColumnsOnANarrowTerminal() {
        let text = Self.table(["abcdefghijklmn"]).rendered(columnCount: 5)
        #expect(text.contains("abcdefghi…"))
    }

    @Test func noCellBreaksOutOfItsRow() {
        let text = Self.table(["a\nb\u{1B}[2J", ""]).rendered(columnCount: nil)
        #expect(text.split(separator: "\n").count == 3)
        #expect(text.contains("a\\nb\\u{1B}[2J"))
    }

    @Test func noLineEndsInSpaces() {
        let lines = Self.table(["", "x"]).rendered(columnCount: nil).split(separator: "\n")
        #expect(lines.allSatisfy { $0.last != " " })
    }

    @Test func fieldsWithoutAValueAreLeftOut() {
        var fields = FieldList()
        fields.add("id", "1")
        fields.add("author", "")
        fields.add("title", "a\nb")
        #expect(fields.rendered() == "id     1\ntitle  a\\nb\n")
    }
}

extension TextTableTests {
    @Test func theHeadIsBoldWhereTheStyleSaysSo() {
        let table = Self.table(["Apple"])
        let plain = table.rendered(columnCount: nil)
        let head = plain.prefix { $0 != "\n" }
        let style = TextStyle(nowMilliseconds: 0, columnCount: nil, isBold: true)
        #expect(table.rendered(style) == "\u{1B}[1m\(head)\u{1B}[0m" + plain.dropFirst(head.count))
        let other = TextStyle(nowMilliseconds: 0, columnCount: nil)
        #expect(table.rendered(other) == plain)
    }
}
