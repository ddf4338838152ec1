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
