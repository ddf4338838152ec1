extension TCPConnection {
    /// Stops reading from the peer; bytes that were read before are still shown.
    package func stopReading() {
        loop.preconditionOnLoop()
        pauseReading(.handler)
    }

    /// Reads from the peer again.
    package func startReading() {
        loop.preconditionOnLoop()
        // The rest of a frame may have waited in the socket.
        deadlines.pausesReading(at: loop.sweep)
        resumeReading(.handler)
    }

    /// Reads nothing more and shows the handler nothing more, not even bytes that were read before,
    /// until ``resume()``.
    ///
    /// Meanwhile no deadline for the rest of a frame passes: the peer may have sent it.
    package func suspend() {
        loop.preconditionOnLoop()
        guard life.isOpen else { return }
        pauseReading(.suspension)
        deadlines.waitsForNoRest()
    }

    /// Ends ``suspend()``: shows the handler what it has not consumed, then reads again.
    package func resume() {
        loop.preconditionOnLoop()
        guard life.isOpen, reading.pauses.contains(.suspension) else { return }
        unblock(.suspension)
    }

    /// Shows the handler its unconsumed bytes again in the next loop iteration, for work that it
    /// deferred.
    package func requestIteration() {
        loop.preconditionOnLoop()
        guard life.isOpen, reading.requestIteration() else { return }
        loop.queueForIteration(self)
    }

    /// Bytes from the peer, valid for the call.
    func didRead(_ bytes: RawSpan) {
        deadlines.received(at: loop.sweep)
        guard life.isOpen else {
            loop.hasReceivedSecret = true
            return
        }
        let isShort = bytes.byteCount <= TransportLimits.shortReadByteCount
        if hasArrival || isShort && loop.configuration.showsReadsTogether {
            hasArrival = true
            loop.arrivals.append(self, bytes)
        } else {
            show(bytes)
        }
    }

    /// Bytes are about to be shown.
    func announce(_ bytes: RawSpan) {
        guard life.isOpen else { return }
        receiver?.connection(self, willReceive: bytes)
    }

    /// Shows the handler the bytes that were read, after those that it left before.
    func show(_ bytes: RawSpan) {
        hasArrival = false
        guard life.isOpen else {
            loop.hasReceivedSecret = true
            return
        }
        // Where nothing is held, the buffer does not have to be checked.
        guard accountedByteCount == 0 || readBuffer.isEmpty, !reading.isQueued else {
            readBuffer.append(bytes)
            if reading.isQueued { updateAccount() } else { deliverBuffer() }
            return
        }
        guard let progress = receiver?.connection(self, received: bytes) else { return }
        // What is left of a closed connection may have a secret.
        if progress.hasSecret || !life.isOpen { loop.hasReceivedSecret = true }
        let consumed = progress.consumedByteCount
        guard consumed != bytes.byteCount || progress.wantsIteration else { return }
        precondition(consumed <= bytes.byteCount, "More bytes were consumed than were shown.")
        guard life.isOpen else { return }
        readBuffer.append(bytes.extracting(droppingFirst: consumed))
        waitForRest(progress)
    }

    /// The end of what the peer sends, or the end of the connection.
    func didFailReading(_ code: Int32) {
        if hasArrival { loop.deliverArrivals() }
        let error = transportError(code, .read)
        guard error == .endOfFile else {
            abort(error == .connectionReset ? .reset : .failed(error))
            return
        }
        reading.endInput()
        switch life {
        case .open: deliverInputEnd()
        case .lingering: endLingering()
        case .connecting: if handshake != nil { failHandshakeAtEnd() }
        case .flushing, .closed: break
        }
    }

    /// Shows the unconsumed bytes again, as ``requestIteration()`` asked for.
    func takeIteration() {
        guard reading.takeIteration(), life.isOpen else { return }
        deliverBuffer()
        guard life.isOpen else { return }
        if reading.isQueued { pauseReading(.iteration) } else { resumeReading(.iteration) }
    }

    private func deliverBuffer() {
        // The handler may close the connection, which empties the connection's own buffer.
        var buffer = ReadBuffer()
        swap(&buffer, &readBuffer)
        let progress = buffer.withBytes { receiver?.connection(self, received: $0) }
        guard let progress, life.isOpen else {
            buffer.removeAll(overwriting: true)
            loop.hasReceivedSecret = true
            return
        }
        if progress.hasSecret { loop.hasReceivedSecret = true }
        buffer.consume(progress.consumedByteCount, overwriting: progress.hasSecret)
        swap(&buffer, &readBuffer)
        waitForRest(progress)
    }

    /// Decides what the remaining bytes wait for.
    private func waitForRest(_ progress: ReadProgress) {
        guard hasRoomForUnused() else { return closeForWantOfRoom() }
        if progress.wantsIteration, progress.waitsForWrites, !writeQueue.isEmpty {
            // The end of the write in flight requests the next iteration.
            if reading.waitForWrites() { stream.stopReading() }
        } else if progress.wantsIteration {
            requestIteration()
        }
        updateAccount()
        if readBuffer.isEmpty || reading.isQueued || reading.isBlocked {
            deadlines.waitsForNoRest()
        } else {
            precondition(
                readBuffer.byteCount <= loop.configuration.maximumUnconsumedByteCount,
                "A handler waits for more than the \(readBuffer.byteCount) bytes it left."
            )
            let progressed = progress.consumedByteCount > 0
            deadlines.waitsForRest(at: loop.sweep, afterProgress: progressed)
        }
        deliverInputEnd()
    }

    /// Notifies the handler of the peer's end once it has seen all bytes before it.
    func deliverInputEnd() {
        guard life.isOpen, reading.deliverInputEnd() else { return }
        dropUnconsumed()
        deadlines.waitsForNoRest()
        updateAccount()
        receiver?.connectionEndedInput(self)
    }
}

extension TCPConnection {
    /// Drops what the handler has not consumed, which may be a part of a secret.
    func dropUnconsumed() {
        guard !readBuffer.isEmpty else { return }
        readBuffer.removeAll(overwriting: true)
        loop.hasReceivedSecret = true
    }

    /// Adds a reason not to read.
    func pauseReading(_ reason: ReadingState.Pauses) {
        if reading.pause(reason) { stream.stopReading() }
    }

    /// Removes reasons not to read; without any the connection is read from again.
    func resumeReading(_ reasons: ReadingState.Pauses) {
        if reading.resume(reasons) { stream.startReading(isSecured: isSecured) }
    }

    /// Removes a reason to show the handler nothing.
    func unblock(_ reason: ReadingState.Pauses) {
        switch reading.unblock(reason, hasUnconsumedBytes: !readBuffer.isEmpty) {
        case .stay: return
        case .read(let startsReading):
            if startsReading { stream.startReading(isSecured: isSecured) }
            deliverInputEnd()
        case .iterate(let queues):
            if queues { loop.queueForIteration(self) }
        }
    }
}
