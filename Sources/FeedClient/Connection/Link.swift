import FeedProto
import FeedTransport
import Synchronization

/// A client's thread and the way to the driver on it; any task may hold it.
final class Link: Sendable {
    /// The frame limits of services that a client accepts; it does not believe an announcement
    /// outside of them.
    ///
    /// The least has room for every call without a text; the most bounds a client's memory.
    static let frameByteCounts = 1_024...16 << 20

    private let thread: EventLoopThread
    private let lastToken = Atomic<UInt64>(0)

    /// Starts a thread, which does not connect before ``open(timeout:)``.
    init(to endpoint: Endpoint, _ configuration: ClientConfiguration) throws(TransportError) {
        thread = try EventLoopThread(
            name: "feed-client",
            configuration: .client,
            budget: BufferBudget()
        ) { loop in
            loop.context = SessionDriver(loop, to: endpoint, configuration)
        }
    }

    deinit {
        thread.stop()
    }

    /// Connects and returns how the service introduced itself.
    func open(timeout: Duration) async throws(FeedClientError) -> HelloResponse {
        // The session has its own introduction, and answers this one with the service's.
        let request = Request.hello(HelloRequest())
        let answer = try await wait(for: request, minimumRevision: 0, timeout) {
            $0.open($1, token: $2)
        }
        guard case .hello(let service) = answer.response else { throw .wrongAnswer(to: request) }
        return service
    }

    /// Makes a call and waits for its answer, its deadline, the task's cancellation or the end.
    func call(
        _ request: Request,
        minimumRevision: UInt64,
        timeout: Duration
    ) async throws(FeedClientError) -> Answer {
        try await wait(for: request, minimumRevision: minimumRevision, timeout) {
            $0.submit($1, token: $2)
        }
    }

    /// What the session sent again so far; nil once the client is closed.
    func history() async -> ConnectionHistory? {
        await withCheckedContinuation { continuation in
            let isPosted = thread.mailbox.post {
                continuation.resume(returning: SessionDriver.of($0).history)
            }
            if !isPosted { continuation.resume(returning: nil) }
        }
    }

    /// Finishes the calls in flight, closes the connection and waits for the thread's end.
    func close() async {
        thread.mailbox.post { SessionDriver.of($0).close() }
        await withCheckedContinuation { continuation in
            thread.whenFinished { continuation.resume() }
        }
    }

    /// Transfers a call to the driver and waits for its end.
    private func wait(
        for request: Request,
        minimumRevision: UInt64,
        _ timeout: Duration,
        _ submit: @escaping @Sendable (SessionDriver, SessionDriver.Session.Call, UInt64) -> Void
    ) async throws(FeedClientError) -> Answer {
        let timeout = timeout.withinADay
        let token = lastToken.wrappingAdd(1, ordering: .relaxed).newValue
        let deadline = EventLoop.clock.advanced(by: timeout)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (caller: SessionDriver.Waiter) in
                let call = SessionDriver.Session.Call(
                    caller: caller,
                    request: request,
                    minimumRevision: minimumRevision,
                    timeout: timeout,
                    deadline: deadline
                )
                post(call, token, submit)
            }
        } onCancel: {
            cancel(token)
        }
        return try outcome.get()
    }

    private func post(
        _ call: SessionDriver.Session.Call,
        _ token: UInt64,
        _ submit: @escaping @Sendable (SessionDriver, SessionDriver.Session.Call, UInt64) -> Void
    ) {
        guard !Task.isCancelled else {
            return call.caller.resume(returning: .failure(.cancelled(effect: .none)))
        }
        let isPosted = thread.mailbox.post { submit(SessionDriver.of($0), call, token) }
        guard isPosted else { return call.caller.resume(returning: .failure(.closed)) }
        // A cancellation between the two preceded the call and found nothing.
        if Task.isCancelled { cancel(token) }
    }

    private func cancel(_ token: UInt64) {
        thread.mailbox.post { SessionDriver.of($0).cancel(token) }
    }
}

extension TransportConfiguration {
    /// A client waits as long as its calls do, and limits its unsent bytes itself.
    fileprivate static var client: Self {
        var configuration = Self()
        configuration.idleTimeout = nil
        configuration.partialReadTimeout = nil
        configuration.maximumUnconsumedByteCount =
            Link.frameByteCounts.upperBound + FrameHeader.byteCount
        configuration.highWatermarkByteCount =
            WireConnection.maximumUnsentByteCount + 2 * Link.frameByteCounts.upperBound
        return configuration
    }
}
