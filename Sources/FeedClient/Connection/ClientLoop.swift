import FeedProto
import FeedTransport

/// The thread of a client, and the drivers of its connections; any task may hold it.
final class ClientLoop: Sendable {
    private let thread: EventLoopThread
    /// Runs tasks on the thread.
    let executor: LoopExecutor

    /// Starts a thread with a driver for each inbox.
    init(
        to endpoints: [Endpoint],
        _ configuration: ClientConfiguration,
        _ inboxes: [CallInbox]
    ) throws(TransportError) {
        thread = try EventLoopThread(
            name: "feed-client",
            configuration: .client,
            budget: BufferBudget()
        ) { loop in
            loop.context = Drivers(
                inboxes.enumerated().map { place, inbox in
                    SessionDriver(loop, to: endpoints, configuration, inbox, place: place)
                }
            )
        }
        executor = LoopExecutor(thread.mailbox)
    }

    deinit {
        thread.stop()
    }

    /// Runs work with a driver; false where the thread has ended, or is about to.
    @discardableResult
    func post(to place: Int, _ work: @escaping @Sendable (SessionDriver) -> Void) -> Bool {
        thread.mailbox.post { work(SessionDriver.of($0, place)) }
    }

    /// Finishes the calls in flight, closes all connections and waits for the thread's end.
    func close() async {
        thread.mailbox.post { loop in
            for driver in Drivers.of(loop).all { driver.close() }
        }
        await withCheckedContinuation { continuation in
            thread.whenFinished { continuation.resume() }
        }
    }
}

/// The drivers of a loop, which stops when the last one has finished.
final class Drivers {
    /// The drivers, each in its place.
    let all: [SessionDriver]
    private var runningCount: Int

    /// Drivers that have not finished.
    init(_ drivers: [SessionDriver]) {
        all = drivers
        runningCount = drivers.count
    }

    /// The drivers of a client's loop.
    static func of(_ loop: EventLoop) -> Drivers {
        guard let drivers = loop.context as? Drivers else {
            preconditionFailure("A client's loop has its drivers from its start.")
        }
        return drivers
    }

    /// A driver has finished, once; true where it was the last one.
    func finishOne() -> Bool {
        runningCount -= 1
        return runningCount == 0
    }
}

@available(*, unavailable)
extension Drivers: Sendable {}

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
