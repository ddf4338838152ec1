import Foundation

/// The terminal, or whatever stands in for it: reports on standard output, progress on standard error.
struct Console {
    private let isTerminal: Bool

    /// A console whose progress line is rewritten in place on a terminal, and listed elsewhere.
    init(isTerminal: Bool) {
        self.isTerminal = isTerminal
    }

    /// Shows a progress line; an empty one clears it.
    func showProgress(_ line: String) {
        if isTerminal {
            Self.write("\r\u{1B}[K\(line)", to: .standardError, terminator: "")
        } else if !line.isEmpty {
            Self.write(line, to: .standardError)
        }
    }

    /// Writes a text; a reader that went away is nobody's error.
    static func write(_ text: String, to file: FileHandle, terminator: String = "\n") {
        try? file.write(contentsOf: Data((text + terminator).utf8))
    }
}
