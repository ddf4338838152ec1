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
        adoptCounted(socket, handler: handler)
    }

    /// Takes over an accepted socket that the mailbox has counted already.
    func adoptCounted(
        _ socket: AcceptedSocket,
        handler: (TCPConnection) -> any ConnectionHandler
    ) {
        guard !isStopping, let stream = try? UVStream(uv) else {
            UVSocket.close(socket.descriptor)
            mailbox.addConnection(-1)
            return
        }
        do {
            try stream.open(socket.descriptor)
        } catch {
            // The peer broke the connection before the loop opened it.
            stream.close()
            UVSocket.close(socket.descriptor)
            mailbox.addConnection(-1)
            return
        }
        let connection = TCPConnection(self, stream, peer: socket.peer)
        connection.open(handler(connection))
    }

    /// Connects; the handler is notified either that the connection opened or that it closed.
    package func connect(
        to address: SocketAddress,
        timeout: Duration,
        handler: any ConnectionHandler
    ) throws(TransportError) {
        preconditionOnLoop()
        try requireRunning()
        let stream = try UVStream(uv)
        do {
            try stream.connect(to: address, configuration)
        } catch {
            stream.close()
            throw error
        }
        mailbox.addConnection(1)
        let limit = timeout.sweepCount(configuration.sweepInterval)
        _ = TCPConnection(self, stream, peer: address, connecting: handler, connectLimit: limit)
    }
}
