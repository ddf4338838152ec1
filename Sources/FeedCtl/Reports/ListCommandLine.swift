/// The words of a `list` as it was typed, to be typed again with another start.
package struct ListCommandLine: Sendable, Equatable {
    /// The options that say where a list starts; each has one value.
    private static let starts = ["--page-token", "--around", "--from-rank", "--newer-than"]

    private let words: [String]

    /// The command line without its start.
    ///
    /// - Parameter words: All of its words, beginning with the program's.
    package init(_ words: [String] = []) {
        var kept: [String] = []
        var isValueOfStart = false
        for word in words {
            let isStart = !isValueOfStart && Self.starts.contains(word)
            let hasValue = Self.starts.contains { word.hasPrefix("\($0)=") }
            if !isStart, !isValueOfStart, !hasValue { kept.append(word) }
            isValueOfStart = isStart
        }
        self.words = kept
    }

    /// The command that continues at a token, for a shell.
    func starting(at token: String) -> String {
        (words + ["--page-token", token]).map(Self.quoted).joined(separator: " ")
    }

    /// A word as a shell reads it, in quotes where a character may have a meaning to the shell.
    private static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                true
            default: "-_./:=,@%+".utf8.contains(byte)
            }
        }
        guard !isPlain || word.isEmpty else { return word }
        return "'\(word.replacing("'", with: "'\\''"))'"
    }
}
