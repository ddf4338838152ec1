internal import FeedProto
internal import FeedTransport

/// What the connections of one loop share: the codec, the request handler and the counts.
///
/// Bound to its loop's thread.
final class ServiceLoop {
    /// The limits of the service.
    let limits: ServiceLimits
    /// Finds frames in received bytes.
    let scanner: FrameScanner
    /// Decodes the requests of all connections, one at a time.
    var decoder: MessageDecoder
    /// Executes them.
    let handler: RequestHandler
    /// Counts them.
    let counters: LoopCounters
    /// Reports what is worth a line, without flooding.
    let log: ServiceLog
    /// The loop, which keeps this alive.
    unowned let eventLoop: EventLoop
    /// The listeners that this loop accepts for; only the first loop has some.
    var listeners: [TCPListener] = []

    init(_ eventLoop: EventLoop, handler: RequestHandler, log: ServiceLog) {
        self.eventLoop = eventLoop
        self.handler = handler
        self.log = log
        limits = handler.context.limits
        counters = handler.counters
        scanner = FrameScanner(maximumFrameByteCount: limits.maximumFrameByteCount)
        decoder = MessageDecoder(maximumFrameByteCount: limits.maximumFrameByteCount)
    }

    /// What the service keeps for a loop.
    static func of(_ loop: EventLoop) -> ServiceLoop {
        guard let serviceLoop = loop.context as? ServiceLoop else {
            preconditionFailure("Every loop of the service is given its context at its start.")
        }
        return serviceLoop
    }
}

@available(*, unavailable)
extension ServiceLoop: Sendable {}
