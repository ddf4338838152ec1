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

    /// Everything is sent: waits for the peer's end of file, which may have arrived already.
    func linger() {
        life.linger()
        guard !reading.hasInputEnded else {
            endLingering()
            return
        }
        deadlines.lingers(at: loop.sweep)
        stream.shutDownSending()
    }

    /// The peer's end of file arrived, or did not arrive in time.
    func endLingering() {
        guard case .lingering(let reason) = life else { return }
        abort(reason)
    }

    /// The connection is gone.
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
        if !writeQueue.isEmpty {
            deadlines.observeUnsent(stream.untakenByteCount, at: loop.sweep)
        }
        if mayBeSilent { deadlines.received(at: loop.sweep) }
        if reading.pauses.contains(.budget) {
            // This side waits. A client closes no connection, so its pause must end with the
            // deadline.
            if loop.configuration.closesOverBudget { deadlines.pausesReading(at: loop.sweep) }
            pauseOverBudget()
        }
        freeUnusedBuffers()
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
