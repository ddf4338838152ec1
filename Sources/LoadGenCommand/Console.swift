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

    /// Prints a text on standard output; a reader that has gone away is no error, but a full disk is.
    static func print(_ text: String) throws(OutputError) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        } catch {
            let cause = error.systemCause
            guard cause.domain != NSPOSIXErrorDomain || cause.code != Int(EPIPE) else { return }
            throw OutputError("Standard output could not be written: \(error.systemReason).")
        }
    }

    /// Writes a text that may be lost.
    static func write(_ text: String, to file: FileHandle, terminator: String = "\n") {
        try? file.write(contentsOf: Data((text + terminator).utf8))
    }
}
