import FeedConcurrency
import FeedText
import Foundation
import LoadGen

/// The standard streams, on a terminal or not: reports go to standard output, progress to standard
/// error.
struct Console {
    /// On a terminal the progress line is rewritten in place, elsewhere each is a new one.
    let isTerminal: Bool

    /// Shows a progress line, unless nobody reads the lines before; an empty one clears it.
    func showProgress(_ line: String) {
        guard isTerminal || !line.isEmpty else { return }
        let text =
            isTerminal ? "\r\u{1B}[K\(VisibleText.line(line))" : VisibleText.line(line) + "\n"
        Self.standardError.write(text, upTo: Self.progressPatience, mayBeLost: true)
    }

    /// Prints a text on standard output; a reader that has gone away is no error, but a full disk is.
    static func print(_ text: String) throws(OutputError) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(Self.visible(text).utf8))
        } catch {
            let cause = error.systemCause
            guard cause.domain != NSPOSIXErrorDomain || cause.code != Int(EPIPE) else { return }
            throw OutputError("Standard output could not be written: \(error.systemReason).")
        }
    }

    /// Writes a text to standard error; where nobody reads that, it is lost.
    static func say(_ text: String, terminator: String = "\n") {
        standardError.write(visible(text) + terminator, upTo: messagePatience)
    }

    /// Ends the process where its output is not read in time: a run that a signal has ended does not wait
    /// for a reader.
    static func endIfUnread() {
        let patience = endPatience
        try? NamedThread("unread").start {
            SystemClock.sleep(for: patience)
            say("loadgen: The output was not read within \(NumberFormat.duration(patience)).")
            exit(ExitStatus.failed.rawValue)
        }
    }

    private static func visible(_ text: String) -> String {
        VisibleText.lines(text).joined(separator: "\n")
    }

    private static let standardError = PatientStream(.standardError)
    /// The load is told what to do next from the thread that shows progress.
    private static let progressPatience = Duration.milliseconds(20)
    private static let messagePatience = Duration.seconds(1)
    private static let endPatience = Duration.seconds(5)
}

/// A standard stream that perhaps nobody reads: a thread of its own writes, so that a full pipe, or a
/// terminal that was stopped, holds up neither the load nor its end.
final class PatientStream: Sendable {
    private struct State {
        /// What is still to be written, with those who wait for it.
        var texts: [(text: String, written: FeedConcurrency.Semaphore)] = []
        var isWriting = false
    }

    private let file: FileHandle
    private let state = Lock(State())

    init(_ file: FileHandle) {
        self.file = file
    }

    /// Writes a text behind those before it, and waits for that until `limit` at most.
    ///
    /// A text that `mayBeLost` is not written while an earlier one waits for the reader: the next
    /// progress line says more, and nothing piles up.
    func write(_ text: String, upTo limit: Duration, mayBeLost: Bool = false) {
        let written = FeedConcurrency.Semaphore()
        let isFirst = state.withLock { state -> Bool? in
            if state.isWriting && mayBeLost { return nil }
            state.texts.append((text, written))
            defer { state.isWriting = true }
            return !state.isWriting
        }
        guard let isFirst else { return }
        if isFirst {
            do { try NamedThread("output").start { self.writeAll() } } catch { return writeAll() }
        }
        _ = written.wait(upTo: limit)
    }

    private func writeAll() {
        while let next = takeNext() {
            try? file.write(contentsOf: Data(next.text.utf8))
            next.written.signal()
        }
    }

    private func takeNext() -> (text: String, written: FeedConcurrency.Semaphore)? {
        state.withLock { state in
            state.isWriting = !state.texts.isEmpty
            return state.texts.isEmpty ? nil : state.texts.removeFirst()
        }
    }
}
