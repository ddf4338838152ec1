import FeedProto
import FeedTransport
import Synchronization

/// A client's thread and the way to the connection on it; any task may hold it.
final class Link: Sendable {
    /// The frame limits of services that a client accepts; it does not believe an announcement
    /// outside of them.
    ///
    /// The least has room for every call without a text; the most bounds a client's memory.
    static let frameByteCounts = 1_024...16 << 20

    private let thread: EventLoopThread
    private let lastToken = Atomic<UInt64>(0)

    /// Starts a thread that connects; does not wait for the connection.
    init(to address: SocketAddress, _ configuration: ClientConfiguration) throws(TransportError) {
        thread = try EventLoopThread(
            name: "feed-client",
            configuration: .client,
            budget: BufferBudget()
        ) { loop in
            let connection = ClientConnection(loop, to: address, configuration)
            loop.context = connection
            connection.connect(timeout: configuration.connectTimeout.withinADay)
        }
    }

    deinit {
        thread.stop()
    }

    /// Makes a call and waits for its answer, its deadline, the task's cancellation or the end.
    func call(
        _ request: Request,
        minimumRevision: UInt64,
        timeout: Duration
    ) async throws(FeedClientError) -> Answer {
        let timeout = timeout.withinADay
        let token = lastToken.wrappingAdd(1, ordering: .relaxed).newValue
        let deadline = EventLoop.clock.advanced(by: timeout)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (caller: ClientConnection.Caller) in
                let call = CallStateMachine.Call(
                    caller: caller,
                    request: request,
                    minimumRevision: minimumRevision,
                    timeout: timeout,
                    deadline: deadline
                )
                submit(call, token: token)
            }
        } onCancel: {
            cancel(token)
        }
        return try outcome.get()
    }

    /// Finishes the calls in flight, closes the connection and waits for the thread's end.
    func close() async {
        thread.mailbox.post { ClientConnection.of($0).close() }
        await withCheckedContinuation { continuation in
            thread.whenFinished { continuation.resume() }
        }
    }

    private func submit(
        _ call: CallStateMachine<ClientConnection.Caller>.Call,
        token: UInt64
    ) {
        guard !Task.isCancelled else {
            return call.caller.resume(returning: .failure(.cancelled(effect: .none)))
        }
        let isPosted = thread.mailbox.post { ClientConnection.of($0).submit(call, token: token) }
        guard isPosted else { return call.caller.resume(returning: .failure(.closed)) }
        // A cancellation between the two preceded the call and found nothing.
        if Task.isCancelled { cancel(token) }
    }

    private func cancel(_ token: UInt64) {
        thread.mailbox.post { ClientConnection.of($0).cancel(token) }
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
            ClientConnection.maximumUnsentByteCount + 2 * Link.frameByteCounts.upperBound
        return configuration
    }
}
