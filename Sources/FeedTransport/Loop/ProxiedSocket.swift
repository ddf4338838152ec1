internal import FeedConcurrency

/// The proxies in front of a listener.
package struct TrustedProxies: Sendable {
    /// Takes the host of a proxy, and what was wrong with its header.
    package typealias Report = @Sendable (SocketAddress.Host, ProxyHeader.Fault) -> Void

    private let networks: [HostNetwork]
    let report: Report

    package init(_ networks: [HostNetwork], report: @escaping Report) {
        self.networks = networks
        self.report = report
    }

    /// Whether the connections of a host are those of a proxy.
    func contains(_ host: SocketAddress.Host) -> Bool { networks.contains { $0.contains(host) } }
}

/// An accepted connection of a proxy, until its header has said whose bytes follow.
///
/// It counts as a connection of its loop, and is one once the header has come: then it has the address of the
/// client, and the bytes behind the header are still in the socket.
final class ProxiedSocket {
    private let socket: AcceptedSocket
    private let handle: UVHandle
    private let report: TrustedProxies.Report
    private let mailbox: LoopMailbox
    private var adopt: ((AcceptedSocket) -> Void)?
    private var header = ProxyHeader()
    private var timer: LoopTimer?

    /// Waits for the header of a connection that the mailbox has counted already; `adopt` takes it over then.
    init(
        _ socket: AcceptedSocket,
        on loop: EventLoop,
        report: @escaping TrustedProxies.Report,
        adopt: @escaping (AcceptedSocket) -> Void
    ) throws(TransportError) {
        try loop.requireRunning()
        self.socket = socket
        self.report = report
        self.adopt = adopt
        mailbox = loop.mailbox
        handle = try UVHandle.poll(socket.descriptor, loop.uv)
        // Both hold the socket until the handle is closed.
        handle.body = { self.receive() }
        handle.closed = { self.didClose() }
        handle.startPolling()
        guard let limit = loop.configuration.partialReadTimeout else { return }
        timer = try? loop.addTimer(after: limit) { [weak self] in self?.fail(.tooSlow) }
    }

    private func receive() {
        while adopt != nil, header.missingByteCount > 0 {
            do throws(TransportError) {
                let wanted = header.missingByteCount
                guard let bytes = try UVSocket.receive(socket.descriptor, atMost: wanted) else {
                    return
                }
                // It has connected to see whether somebody listens.
                guard !bytes.isEmpty else { return handle.close() }
                take(bytes)
            } catch {
                return handle.close()
            }
        }
    }

    private func take(_ bytes: [UInt8]) {
        do throws(ProxyHeader.Fault) {
            guard let source = try header.append(bytes), let adopt else { return }
            self.adopt = nil
            // Before the connection opens: libuv watches a socket by one handle.
            handle.close()
            adopt(socket.behindProxy(source))
        } catch {
            fail(error)
        }
    }

    private func fail(_ fault: ProxyHeader.Fault) {
        report(socket.peer.host, fault)
        handle.close()
    }

    /// The header has come, or the connection is over.
    private func didClose() {
        timer?.cancel()
        timer = nil
        guard adopt != nil else { return }
        adopt = nil
        UVSocket.close(socket.descriptor)
        mailbox.addConnection(-1)
    }
}
