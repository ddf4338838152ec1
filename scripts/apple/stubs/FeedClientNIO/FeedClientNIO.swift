// The types of FeedClientNIO, as SwiftNIO cannot be compiled without Apple's SDK.
package import FeedConcurrency
package import FeedNetwork

package final class NIOConnection: TransportConnection {
    package var isOpen: Bool { false }
    package var pendingByteCount: Int { 0 }
    package func requestIteration() {}
    package func write(_ bytes: RawSpan) {}
    package func closeAfterFlush() {}
    package func reset() {}
}
package final class NIOTimer: TransportTimer { package func cancel() {} }
package struct NIOTarget: Sendable {}
package struct NIOSecurity: TransportSecurity {
    package static func client(_ files: TLSClientFiles) throws(TLSFileError) -> NIOSecurity {
        fatalError()
    }
    package func target(host: String) -> NIOTarget { fatalError() }
}
package struct NIOMailbox: TransportMailbox {
    package typealias Loop = NIOLoop
    @discardableResult package func post(_ work: @escaping @Sendable (NIOLoop) -> Void) -> Bool {
        false
    }
}
package final class NIOLoop: TransportLoop {
    package typealias Connection = NIOConnection
    package typealias Handler = any TransportHandler<NIOConnection>
    package var mailbox: NIOMailbox { fatalError() }
    package var context: AnyObject?
    package var now: MonotonicInstant { .now }
    package func addTimer(
        after delay: Duration,
        _ body: @escaping () -> Void
    ) throws(TransportError) -> NIOTimer { fatalError() }
    package func addTimer(
        every interval: Duration,
        _ body: @escaping () -> Void
    ) throws(TransportError) -> NIOTimer { fatalError() }
    package func connect(
        to address: SocketAddress,
        timeout: Duration,
        security: NIOTarget?,
        handler: Handler
    ) throws(TransportError) {}
    package func stop() {}
}
package final class NIOLoopThread: TransportThread {
    package var mailbox: NIOMailbox { fatalError() }
    package init(
        name: String,
        limits: ClientByteLimits,
        start: @escaping @Sendable (NIOLoop) -> Void
    ) throws(TransportError) { fatalError() }
    package func stop() {}
    package func whenFinished(_ body: @escaping @Sendable () -> Void) {}
}
