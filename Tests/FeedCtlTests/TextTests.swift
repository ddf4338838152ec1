import FeedCtl
import FeedText
import Testing

/// Texts of others made safe to print and measured in columns of a terminal.
struct TextTests {
    static let hidden: [(String, String)] = [
        ("plain", "plain"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\u{1B}[31mred", "\\u{1B}[31mred"),
        ("nul\0", "nul\\u{0}"),
        ("del\u{7F}", "del\\u{7F}"),
        ("c1 \u{9B}31m \u{85}", "c1 \\u{9B}31m \\u{85}"),
        ("a\u{202E}b\u{2066}c\u{200F}d\u{061C}", "a\\u{202E}b\\u{2066}c\\u{200F}d\\u{61C}"),
        ("line\u{2028}para\u{2029}", "line\\u{2028}para\\u{2029}"),
        ("crlf\r\n", "crlf\\r\\n"),
        ("a\u{AD}b\u{200B}\u{FEFF}\u{E0041}", "a\\u{AD}b\\u{200B}\\u{FEFF}\\u{E0041}"),
        ("日本 ü 👩‍👩‍👧 می\u{200C}خواهم", "日本 ü 👩‍👩‍👧 می\u{200C}خواهم"),
    ]

    @Test(arguments: hidden)
    func showsWhatIsHidden(_ text: String, _ shown: String) {
        #expect(VisibleText.line(text) == shown)
        #expect(VisibleText.line(shown) == shown)
    }

    @Test func everyControlCharacterIsShown() {
        let controls = (0...0x9F).filter { $0 < 0x20 || $0 >= 0x7F }
        for value in controls {
            let scalar = Unicode.Scalar(UInt8(value))
            let shown = VisibleText.line("a\(scalar)b").unicodeScalars
            #expect(shown.allSatisfy { $0.properties.generalCategory != .control }, "\(value)")
            #expect(shown.first == "a" && shown.last == "b")
        }
    }

    @Test func longTextsEndInAnEllipsis() {
        #expect(VisibleText.line("a\u{1B}bc", atMost: 3) == "a\\u{1B}b…")
        #expect(VisibleText.line("abc", atMost: 3) == "abc")
    }

    @Test func linesKeepTheirBreaksAndNothingElse() {
        #expect(
            VisibleText.lines("a\r\nb\n\nc\u{1B}\u{2028}d") == ["a", "b", "", "c\\u{1B}\\u{2028}d"]
        )
        #expect(VisibleText.lines("a\rb") == ["a\\rb"])
    }

    static let widths: [(String, Int)] = [
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("한글", 4), ("ｆｕｌｌ", 8),
        ("👍", 2), ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("👍🏽", 2), ("❤", 1), ("❤\u{FE0F}", 2),
        ("\u{200B}", 0), ("—…", 2), ("ﷺ", 1), ("𠮷", 2),
    ]

    @Test(arguments: widths)
    func countsColumns(_ text: String, _ count: Int) {
        #expect(text.columnCount == count)
    }

    static let cuts: [(String, Int, String)] = [
        ("apple", 5, "apple"), ("apples", 5, "appl…"), ("日本語", 6, "日本語"), ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"), ("ab👩‍👩‍👧c", 4, "ab…"), ("ab", 1, "…"), ("ab", 0, ""), ("", 0, ""),
    ]

    @Test(arguments: cuts)
    func cutsWholeCharacters(_ text: String, _ limit: Int, _ cut: String) {
        #expect(text.truncated(toColumns: limit) == cut)
        #expect(text.truncated(toColumns: limit).columnCount <= limit)
    }
}

/// Tables and lists of fields for people.
struct TextTableTests {
    static func table(_ titles: [String]) -> TextTable {
        let columns: [TextColumn<Int>] = [
            .number("N") { "\($0 * 10)" }, .text("NAME") { $0 == 0 ? "日本" : "ab" },
            .text("TITLE") { titles[$0] },
        ]
        return TextTable(Array(titles.indices), columns)
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

/// Times as people say them.
struct RelativeTimeTests {
    static let hour: Int64 = 3_600_000
    static let day = 24 * hour

    static let ages: [(Int64, String)] = [
        (0, "just now"), (4_999, "just now"), (-4_999, "just now"),
        (5_000, "5 seconds ago"), (59_999, "59 seconds ago"),
        (60_000, "1 minute ago"), (3_599_999, "59 minutes ago"),
        (hour, "1 hour ago"), (3 * hour + 1, "3 hours ago"), (day - 1, "23 hours ago"),
        (day, "1 day ago"), (29 * day, "29 days ago"), (30 * day, "1 month ago"),
        (364 * day, "12 months ago"), (365 * day, "1 year ago"), (3_650 * day, "10 years ago"),
        (-3 * hour, "in 3 hours"), (-60_000, "in 1 minute"),
    ]

    @Test(arguments: ages)
    func countsInTheLargestUnit(_ age: Int64, _ text: String) {
        let now: Int64 = 1_800_000_000_000
        #expect(RelativeTime.text(now - age, now: now) == text)
    }

    @Test(arguments: [Int64.min, Int64.min + 1, -1, 0, Int64.max])
    func takesAnyNumber(_ milliseconds: Int64) {
        #expect(!RelativeTime.text(milliseconds, now: 1_800_000_000_000).isEmpty)
        #expect(!RelativeTime.text(1_800_000_000_000, now: milliseconds).isEmpty)
    }
}
