internal import FeedTransport

/// How connections come to the loops, and how they leave at the end.
extension ServiceLoop {
    /// Listens at an address and hands connections to these loops; returns the real address.
    func listen(
        at address: SocketAddress,
        for targets: [LoopMailbox],
        security: TLSAcceptor? = nil,
        proxies: [HostNetwork] = []
    ) throws(TransportError) -> SocketAddress {
        let admission = Admission(
            maximumConnectionCount: context.limits.maximumConnectionCount,
            refusal: handler.refusal(
                .tooManyConnections(limit: context.limits.maximumConnectionCount)
            )
        )
        let listener = try TCPListener(
            at: address,
            on: eventLoop,
            targets: targets,
            admission: admission,
            security: security,
            proxies: TrustedProxies(proxies) { [log] host, fault in
                log.refusedProxy("\(fault)", from: host)
            }
        ) { connection in
            ServerConnection(connection, on: ServiceLoop.of(connection.loop))
        }
        listeners.append(listener)
        context.addListener(listener.counters)
        return listener.address
    }

    /// Accepts nothing more.
    func closeListeners() {
        for listener in listeners { listener.close() }
        listeners = []
    }

    /// Lets every connection finish what it received whole, then ends the loop.
    func drain() {
        eventLoop.forEachConnection { connection in
            (connection.handler as? ServerConnection)?.drain()
            // A connection whose TLS handshake is under way has asked for nothing yet.
            if connection.handler == nil { connection.reset() }
        }
        boundBackupsOfDrain()
        let deadline = context.limits.drainTimeout
        do throws(TransportError) {
            try eventLoop.addTimer(after: deadline) { [eventLoop] in
                eventLoop.forEachConnection { $0.reset() }
            }
        } catch {
            log.cannotBoundDrain(error)
        }
        eventLoop.whenEmpty { [unowned self] in
            stopWatchTimer()
            readyWatchers = WatcherQueue()
            eventLoop.stop()
        }
    }
}
