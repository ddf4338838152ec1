import FeedConcurrency
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

    /// Connects and returns what the service answered to the first Hello.
    func open(timeout: Duration) async throws(FeedClientError) -> HelloResponse {
        // The session sends a Hello of its own, and completes this call with the answer to it.
        let request = Request.hello(HelloRequest())
        let answer = try await wait(for: request, minimumRevision: 0, actingUserID: 0, timeout) {
            $0.open($1, token: $2)
        }
        guard case .hello(let service) = answer.response else { throw .wrongAnswer(to: request) }
        return service
    }

    /// Makes a call and waits for its answer, its deadline, the task's cancellation or the end.
    func call(
        _ request: Request,
        minimumRevision: UInt64,
        actingUserID: UInt64,
        timeout: Duration
    ) async throws(FeedClientError) -> Answer {
        try await wait(
            for: request,
            minimumRevision: minimumRevision,
            actingUserID: actingUserID,
            timeout
        ) {
            $0.submit(CollectionOfOne($1), firstToken: $2)
        }
    }

    /// Makes calls, which leave in their order, and waits until all have ended.
    func call(
        _ requests: [Request],
        actingUserID: UInt64,
        timeout: Duration
    ) async -> [SessionDriver.Outcome] {
        guard !requests.isEmpty else { return [] }
        let tokens = takeTokens(requests.count)
        let limit = TimeLimit(timeout)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { task in
                let refusal = post(tokens) { driver in
                    let group = CallGroup(of: requests.count, for: task)
                    let calls = requests.enumerated().lazy.map { place, request in
                        SessionDriver.Session.Call(
                            caller: .member(group, place: place),
                            request: request,
                            actingUserID: actingUserID,
                            timeout: limit.timeout,
                            deadline: limit.deadline
                        )
                    }
                    driver.submit(calls, firstToken: tokens.lowerBound)
                }
                if let refusal {
                    task.resume(returning: requests.map { _ in .failure(refusal) })
                }
            }
        } onCancel: {
            cancel(tokens)
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
        actingUserID: UInt64,
        _ timeout: Duration,
        _ submit: @escaping @Sendable (SessionDriver, SessionDriver.Session.Call, UInt64) -> Void
    ) async throws(FeedClientError) -> Answer {
        let tokens = takeTokens(1)
        let limit = TimeLimit(timeout)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { task in
                let refusal = post(tokens) {
                    let call = SessionDriver.Session.Call(
                        caller: .task(task),
                        request: request,
                        minimumRevision: minimumRevision,
                        actingUserID: actingUserID,
                        timeout: limit.timeout,
                        deadline: limit.deadline
                    )
                    submit($0, call, tokens.lowerBound)
                }
                if let refusal { task.resume(returning: .failure(refusal)) }
            }
        } onCancel: {
            cancel(tokens)
        }
        return try outcome.get()
    }

    /// Numbers for calls that are cancelled together.
    private func takeTokens(_ count: Int) -> ClosedRange<UInt64> {
        let count = UInt64(count)
        let last = lastToken.wrappingAdd(count, ordering: .relaxed).newValue
        return (last - count + 1)...last
    }

    /// Lets the driver take calls; the result is nil, or why it does not.
    private func post(
        _ tokens: ClosedRange<UInt64>,
        _ submit: @escaping @Sendable (SessionDriver) -> Void
    ) -> FeedClientError? {
        guard !Task.isCancelled else { return .cancelled(effect: .none) }
        guard thread.mailbox.post({ submit(SessionDriver.of($0)) }) else { return .closed }
        // A cancellation between the two preceded the calls and found nothing.
        if Task.isCancelled { cancel(tokens) }
        return nil
    }

    private func cancel(_ tokens: ClosedRange<UInt64>) {
        thread.mailbox.post { SessionDriver.of($0).cancel(tokens) }
    }
}

/// How long calls may take, from now on.
private struct TimeLimit {
    let timeout: Duration
    let deadline: MonotonicInstant

    init(_ timeout: Duration) {
        self.timeout = timeout.withinADay
        deadline = MonotonicInstant.now.advanced(by: self.timeout)
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
