internal import FeedProto
internal import FeedTransport
internal import Logging

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
    private let eventLoop: EventLoop

    init(_ eventLoop: EventLoop, handler: RequestHandler, log: ServiceLog) {
        self.eventLoop = eventLoop
        self.handler = handler
        self.log = log
        limits = handler.context.limits
        counters = handler.counters
        scanner = FrameScanner(maximumFrameByteCount: limits.maximumFrameByteCount)
        decoder = MessageDecoder(maximumFrameByteCount: limits.maximumFrameByteCount)
    }

    /// The time of this turn.
    var now: MonotonicInstant { eventLoop.now }
}

@available(*, unavailable)
extension ServiceLoop: Sendable {}
