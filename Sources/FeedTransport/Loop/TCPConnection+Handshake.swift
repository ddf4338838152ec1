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
    private func didReceiveHandshake(_ ciphertext: RawSpan) {
        guard let handshake else { return }
        readBuffer.append(ciphertext)
        pauseReading(.handshake)
        updateAccount()
        guard !handshake.isQueued, !life.isClosed else { return }
        handshake.isQueued = true
        loop.queueHandshake(of: self)
    }

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

    /// Ends a handshake that has lasted long, for the sake of others.
    private func giveWay() { abort(.connectFailed(.tls(.gaveWay)), withReset: true) }

    /// Closes a connection that is not secured, or no longer; an alert tells the peer why.
    func fail(_ error: TLSError) {
        sendEncrypted(loop.tls.buffers)
        abort(life.isOpen ? .failed(.tls(error)) : .connectFailed(.tls(error)))
    }

    /// The connection has closed: a handshake that was under way has failed.
    private func endHandshake(_ reason: CloseReason) {
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

    /// The names in the certificate that the client has shown; none if it was not asked for one.
    package var peerIdentities: [TLSIdentity] { security?.peerIdentities ?? [] }
}

/// The bytes of a secured connection, between its socket and its handler.
extension TCPConnection {
    /// Bytes of a secured connection's peer, valid for the call.
    func didReceive(_ ciphertext: RawSpan) {
        switch life {
        case .open: decrypt(ciphertext)
        case .connecting: didReceiveHandshake(ciphertext)
        // What comes after the end of the answers is not looked at.
        case .flushing, .lingering, .closed: break
        }
    }

    private func decrypt(_ ciphertext: RawSpan) {
        guard let security else { return }
        do throws(TLSError) {
            let progress = try security.receive(ciphertext)
            sendEncrypted(security.buffers)
            didDecrypt(progress, security.buffers)
        } catch {
            // What came before the fault was whole, and is not shown: the connection is no longer
            // to be trusted.
            fail(error)
        }
    }

    /// Shows the handler the plaintext of the last read, and the end of the peer's side.
    private func didDecrypt(_ progress: TLSConnection.Progress, _ buffers: TLSBuffers) {
        buffers.withPlaintext { plaintext in
            if plaintext.byteCount > 0, life.isOpen { didRead(plaintext) }
        }
        guard progress == .ended else { return }
        if hasArrival { loop.deliverArrivals() }
        guard life.isOpen else { return }
        // The rest of the socket's input does not matter, also if it is no TLS.
        stream.stopReading()
        reading.endInput()
        deliverInputEnd()
    }

    /// Encrypts bytes and sends them, four records at a time.
    func sendSecured(_ bytes: RawSpan, _ security: TLSConnection) {
        var rest = bytes
        while rest.byteCount > 0, life.isOpen {
            let count = min(rest.byteCount, TLSLimits.encryptedByteCount)
            do throws(TLSError) {
                try security.send(rest.extracting(first: count))
            } catch {
                return fail(error)
            }
            sendEncrypted(security.buffers)
            rest = rest.extracting(droppingFirst: count)
        }
    }

    /// Sends what OpenSSL has written: records, the next message of a handshake, or an alert.
    private func sendEncrypted(_ buffers: TLSBuffers) {
        buffers.takeOutput { bytes in
            if !life.isClosed { send(bytes) }
        }
    }

    /// Tells the peer that nothing more comes, after the bytes that were written.
    private func endSecured() {
        guard let security else { return }
        security.end()
        sendEncrypted(security.buffers)
    }
}

/// How a connection ends, by its handler, its peer or a deadline.
extension TCPConnection {
    /// Sends the queued bytes, ends the sending side, and closes when the peer has ended its own
    /// side, or after a second.
    ///
    /// Closing with unread input would destroy answers on their way.
    package func closeAfterFlush() {
        loop.preconditionOnLoop()
        switch life {
        case .connecting: abort(.local)
        case .flushing, .lingering, .closed: return
        case .open:
            endSecured()
            guard life.isOpen else { return }
            life.flush(reading.hasInputEnded ? .peerClosed : .local)
            discardInput()
            if writeQueue.isEmpty { linger() }
        }
    }

    /// Closes now, with a reset; unsent bytes are lost.
    package func reset() {
        loop.preconditionOnLoop()
        abort(.local, withReset: true)
    }

    /// Closes now; the handler is notified at the end of the loop iteration.
    func abort(_ reason: CloseReason, withReset: Bool = false) {
        guard !life.isClosed else { return }
        life.close(reason)
        reading.close()
        dropUnconsumed()
        writeQueue.removeAll()
        updateAccount()
        countUnfreed()
        returnSendBuffer()
        if isSecured { endHandshake(reason) }
        if withReset { stream.closeWithReset() } else { stream.close() }
    }

    /// Closes now, since reading or writing has failed.
    func abort(for error: TransportError) {
        abort(error == .connectionReset ? .reset : .failed(error))
    }

    /// Everything is sent: waits for the peer's end of file, which may have arrived already.
    func linger() {
        life.linger()
        guard !reading.hasInputEnded else { return endLingering() }
        deadlines.lingers(at: loop.sweep)
        stream.shutDownSending()
    }

    /// The peer's end of file arrived, or did not arrive in time.
    func endLingering() {
        guard case .lingering(let reason) = life else { return }
        abort(reason)
    }

    func didClose() {
        let handler = receiver
        receiver = nil
        loop.budget.addReserved(-closingByteCount)
        closingByteCount = 0
        handler?.connectionClosed(self, reason: life.closeReason ?? .local)
        loop.mailbox.addConnection(-1)
        loop.remove(at: place)
    }

    /// Checks the deadlines, and the budget if it stopped the reading.
    func sweep() {
        if !writeQueue.isEmpty { deadlines.observeUnsent(stream.untakenByteCount, at: loop.sweep) }
        if mayBeSilent { deadlines.received(at: loop.sweep) }
        if reading.pauses.contains(.budget) {
            // This side waits. A client closes no connection, so its pause must end with the
            // deadline.
            if loop.configuration.closesOverBudget { deadlines.pausesReading(at: loop.sweep) }
            pauseOverBudget()
        }
        // Of a connection that was silent since the last sweep.
        security?.freeUnusedBuffers()
        if lentByteCount > 0, writeQueue.isEmpty,
            loop.sweep - lastWriteSweep > TransportLimits.lentSweepCount
        {
            returnSendBuffer()
        }
        switch deadlines.expiry(at: loop.sweep, limits: loop.deadlineLimits) {
        case nil: return
        case .connect: abort(.connectFailed(.timedOut))
        case .idle: abort(.idleTimeout)
        case .partialRead: abort(.partialReadTimeout)
        case .writeProgress: abort(.writeStalled, withReset: true)
        case .linger: endLingering()
        }
    }

    private func discardInput() {
        dropUnconsumed()
        deadlines.waitsForNoRest()
        updateAccount()
        guard !reading.hasInputEnded else { return }
        resumeReading([.handler, .suspension, .backPressure, .iteration, .budget, .handshake])
    }
}
