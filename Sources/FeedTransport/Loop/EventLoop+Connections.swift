extension EventLoop {
    /// The number of the loop's connections, including those that are closing.
    package var connectionCount: Int { connections.count }

    /// Calls `body` with each connection; it may close any of them.
    package func forEachConnection(_ body: (TCPConnection) -> Void) {
        preconditionOnLoop()
        for connection in connections { body(connection) }
    }

    /// Calls `body` when the last connection has closed: now, if there is none.
    package func whenEmpty(_ body: @escaping () -> Void) {
        preconditionOnLoop()
        if connections.isEmpty { body() } else { addWhenEmpty(body) }
    }

    /// Takes over an accepted socket; the handler is made for the open connection.
    package func adopt(
        _ socket: AcceptedSocket,
        handler: (TCPConnection) -> any ConnectionHandler
    ) {
        preconditionOnLoop()
        mailbox.addConnection(1)
        guard let connection = makeCounted(socket) else { return }
        connection.open(handler(connection))
    }

    /// Takes over an accepted socket that the mailbox has counted already.
    ///
    /// - Returns: The connection, which is not open yet; nil where the socket is of no use.
    private func makeCounted(_ socket: AcceptedSocket) -> TCPConnection? {
        guard !isStopping, var stream = try? UVStream(uv) else {
            UVSocket.close(socket.descriptor)
            mailbox.addConnection(-1)
            return nil
        }
        do {
            try stream.open(socket.descriptor)
        } catch {
            // The peer broke the connection before the loop opened it.
            stream.close()
            UVSocket.close(socket.descriptor)
            mailbox.addConnection(-1)
            return nil
        }
        return TCPConnection(self, stream, peer: socket.peer, isProxied: socket.isProxied)
    }

    /// Takes over an accepted socket that the mailbox has counted already; the handler is made for the
    /// open connection.
    func adoptCounted(
        _ socket: AcceptedSocket,
        securedBy acceptor: TLSAcceptor? = nil,
        handshakeLimit: Int = TransportLimits.maximumHandshakeCount,
        handler: @escaping TCPConnection.MakeHandler
    ) {
        guard let connection = makeCounted(socket) else { return }
        if let acceptor {
            connection.open(secured: acceptor, handshakeLimit: handshakeLimit, handler)
        } else {
            connection.open(handler(connection))
        }
    }

    /// Takes over an accepted socket of a proxy that the mailbox has counted already; `adopt` gets it once
    /// its header has come.
    func awaitProxyHeader(
        of socket: AcceptedSocket,
        report: @escaping TrustedProxies.Report,
        adopt: @escaping (AcceptedSocket) -> Void
    ) {
        do throws(TransportError) {
            _ = try ProxiedSocket(socket, on: self, report: report, adopt: adopt)
        } catch {
            UVSocket.close(socket.descriptor)
            mailbox.addConnection(-1)
        }
    }

    /// Connects; the handler is notified either that the connection opened or that it closed.
    ///
    /// - Parameters:
    ///   - address: The address of the server.
    ///   - timeout: How long it may take, with the handshake of TLS.
    ///   - security: How the connection is secured; nil sends plain bytes.
    ///   - handler: Takes the events of the connection.
    /// - Throws: Where the loop is stopping or the system makes no socket.
    package func connect(
        to address: SocketAddress,
        timeout: Duration,
        security: TLSTarget? = nil,
        handler: any ConnectionHandler
    ) throws(TransportError) {
        preconditionOnLoop()
        try requireRunning()
        var stream = try UVStream(uv)
        do {
            try stream.connect(to: address, configuration)
        } catch {
            stream.close()
            throw error
        }
        mailbox.addConnection(1)
        let limit = timeout.sweepCount(configuration.sweepInterval)
        _ = TCPConnection(
            self,
            stream,
            peer: address,
            connecting: handler,
            connectLimit: limit,
            security: security
        )
    }
}
