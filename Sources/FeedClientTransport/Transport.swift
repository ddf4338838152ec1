package import FeedNetwork
package import FeedTLS
// For the members of the types below, which FeedClient names by `Transport`.
@_exported public import FeedTransport

/// The transport of the client: libuv, and TLS by OpenSSL.
package enum Transport: ClientTransport {
    package typealias Loop = EventLoop
    package typealias LoopThread = EventLoopThread
    package typealias Security = TLSContext
    package typealias Connection = TCPConnection
    package typealias Handler = ConnectionHandler
    package typealias Timer = LoopTimer
    package typealias Mailbox = LoopMailbox
    package typealias Target = TLSTarget
}

extension EventLoop: TransportLoop {
    package typealias Connection = TCPConnection
    package typealias Handler = any ConnectionHandler
}

extension LoopMailbox: TransportMailbox {}
extension LoopTimer: TransportTimer {}
extension TCPConnection: TransportConnection {}

extension EventLoopThread: TransportThread {
    /// A client waits as long as its calls do, and limits its unsent bytes itself.
    package convenience init(
        name: String,
        limits: ClientByteLimits,
        start: @escaping @Sendable (EventLoop) -> Void
    ) throws(TransportError) {
        ProcessSetup.ignoreBrokenPipes()
        var configuration = TransportConfiguration()
        configuration.idleTimeout = nil
        configuration.partialReadTimeout = nil
        configuration.maximumUnconsumedByteCount = limits.unconsumed
        configuration.highWatermarkByteCount = limits.unsent
        try self.init(
            name: name,
            configuration: configuration,
            budget: BufferBudget(),
            start: start
        )
    }
}
