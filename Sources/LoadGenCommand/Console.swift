import Foundation

/// The standard streams, on a terminal or not: reports go to standard output, progress to standard
/// error.
struct Console {
    private let isTerminal: Bool

    /// A console that rewrites its progress line in place on a terminal, and prints new lines
    /// elsewhere.
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

    /// Writes a text; a reader that has gone away is no error.
    static func write(_ text: String, to file: FileHandle, terminator: String = "\n") {
        try? file.write(contentsOf: Data((text + terminator).utf8))
    }
}
