import FeedConcurrency
import Foundation

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

    /// The stream of a file.
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
