internal import FeedConcurrency
package import FeedTLS
internal import Synchronization

/// Secures the connections of a listener, with a context that may be replaced meanwhile.
package final class TLSAcceptor: Sendable {
    /// Takes the host and the reason of a handshake that has failed, on the connection's loop.
    package typealias Report = @Sendable (SocketAddress.Host, TransportError) -> Void

    private let newest: Lock<TLSContext>
    private let report: Report
    private let secured = Atomic<Int>(0)
    private let failed = Atomic<Int>(0)

    package init(_ context: TLSContext, report: @escaping Report = { _, _ in }) {
        newest = Lock(context)
        self.report = report
    }

    /// The context of handshakes that begin now.
    package var context: TLSContext { newest.withLock { $0 } }

    /// Secures further connections with another context; those that are open keep theirs.
    package func replace(with context: TLSContext) { newest.withLock { $0 = context } }

    package var securedCount: Int { secured.load(ordering: .relaxed) }

    /// Handshakes that have failed, were too slow, or had to give way.
    package var failedCount: Int { failed.load(ordering: .relaxed) }

    func countSecured() { secured.wrappingAdd(1, ordering: .relaxed) }

    func countFailed(_ host: SocketAddress.Host, _ reason: TransportError) {
        failed.wrappingAdd(1, ordering: .relaxed)
        report(host, reason)
    }
}

/// How a client secures a connection, and the host that it wants to reach.
package struct TLSTarget: Sendable {
    /// Whom the client trusts, and its own certificate.
    package let context: TLSContext
    /// The name or the address that the server's certificate must have.
    package let host: String

    package init(context: TLSContext, host: String) {
        self.context = context
        self.host = host
    }
}

extension TLSContext: TransportSecurity {
    package func target(host: String) -> TLSTarget { TLSTarget(context: self, host: host) }
}
