package import FeedTLS

/// How a connection becomes a secured one: it stays `connecting` until the handshake is done.
///
/// The bytes of a handshake wait in the connection's own buffer until the loop works on them
/// (``LoopTLS``), and nothing more is read meanwhile.
extension TCPConnection {
    /// Starts an accepted connection with a handshake, of which so many may be under way on the loop; its
    /// handler is made when it opens.
    func open(
        secured acceptor: TLSAcceptor,
        handshakeLimit: Int,
        _ makeHandler: @escaping TCPConnection.MakeHandler
    ) {
        let tls = loop.tls
        // Before the new one counts: it is the oldest of a greedy host that gives way.
        tls.handshakes.connectionToGiveWay(limit: handshakeLimit) {
            $0.handshake?.isQueued != true
        }?.giveWay()
        tls.handshakes.add(self, from: hostSlot)
        handshake = Handshake(.server(acceptor, makeHandler))
        isSecured = true
        let limit = TransportLimits.handshakeTimeout.sweepCount(loop.configuration.sweepInterval)
        deadlines = ConnectionDeadlines(at: loop.sweep, connectLimit: limit)
        resumeReading(.unopened)
    }

    /// Starts the handshake of a client, whose connection the peer has accepted.
    func beginHandshake(with target: TLSTarget) {
        do throws(TLSError) {
            security = try TLSConnection(
                client: target.context,
                host: target.host,
                loop.tls.buffers
            )
        } catch {
            return fail(error)
        }
        sendEncrypted(loop.tls.buffers)
        if !life.isClosed { resumeReading(.unopened) }
    }

    /// Bytes of a handshake, valid for the call.
    func didReceiveHandshake(_ ciphertext: RawSpan) {
        guard let handshake else { return }
        readBuffer.append(ciphertext)
        pauseReading(.handshake)
        updateAccount()
        guard !handshake.isQueued, !life.isClosed else { return }
        handshake.isQueued = true
        loop.queueHandshake(of: self)
    }

    /// Works on the bytes of the handshake that were read.
    func continueHandshake() {
        guard let handshake, !life.isClosed else { return }
        handshake.isQueued = false
        var input = ReadBuffer()
        swap(&input, &readBuffer)
        updateAccount()
        do throws(TLSError) {
            let security = try makeSecurity(handshake)
            // The closure cannot throw a type of error of its own.
            let outcome = input.withBytes { bytes in
                Result { () throws(TLSError) in try security.receive(bytes) }
            }
            let progress = try outcome.get()
            sendEncrypted(security.buffers)
            guard !life.isClosed else { return }
            guard progress != .handshake else { return resumeReading(.handshake) }
            finish(handshake)
            didDecrypt(progress, security.buffers)
        } catch {
            return fail(error)
        }
        if !life.isClosed { resumeReading(.handshake) }
    }

    /// The TLS of the connection; a server makes it for the first bytes of the client.
    private func makeSecurity(_ handshake: Handshake) throws(TLSError) -> TLSConnection {
        if let security { return security }
        guard case .server(let acceptor, _) = handshake.side else {
            preconditionFailure("A client's handshake begins before the first bytes of the server.")
        }
        let made = try TLSConnection(server: acceptor.context, loop.tls.buffers)
        security = made
        return made
    }

    private func finish(_ handshake: Handshake) {
        self.handshake = nil
        deadlines.opened(at: loop.sweep)
        if case .server(let acceptor, let makeHandler) = handshake.side {
            loop.tls.handshakes.remove(self)
            acceptor.countSecured()
            receiver = makeHandler(self)
        }
        life.open()
        receiver?.connectionOpened(self)
    }

    /// The peer has ended its side during the handshake.
    func failHandshakeAtEnd() { fail(.endedInHandshake) }

    /// Ends a handshake that has lasted long, for the sake of others.
    private func giveWay() { abort(.connectFailed(.tls(.gaveWay)), withReset: true) }

    /// Closes a connection that is not secured, or no longer; an alert tells the peer why.
    func fail(_ error: TLSError) {
        sendEncrypted(loop.tls.buffers)
        abort(life.isOpen ? .failed(.tls(error)) : .connectFailed(.tls(error)))
    }

    /// The connection has closed: a handshake that was under way has failed.
    func endHandshake(_ reason: CloseReason) {
        let isSilent = security == nil && readBuffer.isEmpty
        security = nil
        guard let handshake else { return }
        self.handshake = nil
        guard case .server(let acceptor, _) = handshake.side else { return }
        loop.tls.handshakes.remove(self)
        guard case .connectFailed(let error) = reason else { return }
        // A check of the port, as a balancer makes it: a connection without a byte is no handshake.
        if isSilent, error == .tls(.endedInHandshake) { return }
        acceptor.countFailed(peer.host, error)
    }
}

extension TCPConnection {
    /// The names in the certificate that the client has shown; none where it was not asked for one.
    package var peerIdentities: [TLSIdentity] { security?.peerIdentities ?? [] }
}
