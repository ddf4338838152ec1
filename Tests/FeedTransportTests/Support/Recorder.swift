import Synchronization

/// What happened on the loops of a test, in order, to be awaited one by one.
final class Recorder<Event: Sendable>: Sendable {
    private let stream: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let all = Mutex<[Event]>([])

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    /// Adds an event; from any thread.
    func record(_ event: Event) {
        all.withLock { $0.append(event) }
        continuation.yield(event)
    }

    /// The next event that was not awaited yet.
    func next() async throws -> Event {
        var iterator = stream.makeAsyncIterator()
        guard let event = await iterator.next() else { throw CancellationError() }
        return event
    }

    /// All events so far.
    var events: [Event] { all.withLock { $0 } }
}
