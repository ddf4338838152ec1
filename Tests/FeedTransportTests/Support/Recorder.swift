import Foundation

/// The events on the loops of a test, in order, to be awaited one by one.
// The lock is one that the thread sanitizer knows.
final class Recorder<Event: Sendable>: @unchecked Sendable {
    private let stream: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let lock = NSLock()
    private var all: [Event] = []

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    /// Adds an event; from any thread.
    func record(_ event: Event) {
        lock.withLock { all.append(event) }
        continuation.yield(event)
    }

    /// The next event that was not awaited yet.
    func next() async throws -> Event {
        var iterator = stream.makeAsyncIterator()
        guard let event = await iterator.next() else { throw CancellationError() }
        return event
    }

    /// All events so far.
    var events: [Event] { lock.withLock { all } }
}
