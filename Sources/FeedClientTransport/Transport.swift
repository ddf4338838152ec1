package import FeedNetwork

// The transport is exported for the members of its types, which FeedClient names by `Transport`.
#if FEED_TRANSPORT_NIO
@_exported public import FeedClientNIO

/// The transport of the client: SwiftNIO, and TLS by its BoringSSL.
package enum Transport: ClientTransport {
    package typealias Loop = NIOLoop
    package typealias LoopThread = NIOLoopThread
    package typealias Security = NIOSecurity
    package typealias Connection = NIOConnection
    package typealias Handler = TransportHandler
    package typealias Timer = NIOTimer
    package typealias Mailbox = NIOMailbox
    package typealias Target = NIOTarget
}
#else
package import FeedTLS
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
#endif
