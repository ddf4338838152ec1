extension TCPConnection {
    /// Sends bytes: at once if nothing is queued and the kernel takes them; otherwise they are
    /// copied and follow later.
    ///
    /// A connection that is closing takes nothing more.
    package func write(_ bytes: RawSpan) {
        loop.preconditionOnLoop()
        precondition(writeQueue.owedByteCount == 0, "Bytes would pass those that are owed.")
        guard life.isOpen, bytes.byteCount > 0 else { return }
        send(bytes)
    }

    /// Counts bytes as unsent that the handler keeps and writes later with ``writeOwed(_:)``.
    ///
    /// Until then nothing can be written past them.
    ///
    /// A closing connection takes nothing more; bytes owed to it before are still sent. The owner
    /// of owed bytes counts them in the budget.
    package func owe(_ byteCount: Int) {
        loop.preconditionOnLoop()
        guard life.isOpen else { return }
        writeQueue.owe(byteCount)
        beginBackPressure()
    }

    /// Sends the first of the bytes that are owed; without effect on a connection that is closed.
    package func writeOwed(_ bytes: RawSpan) {
        loop.preconditionOnLoop()
        guard life.isOpen || life.isFlushing, bytes.byteCount > 0 else { return }
        writeQueue.pay(bytes.byteCount)
        send(bytes)
        guard !life.isClosed else { return }
        if life.isFlushing, writeQueue.isEmpty { linger() }
        endBackPressure()
    }

    private func send(_ bytes: RawSpan) {
        guard writeQueue.isClear else {
            queue(bytes)
            return
        }
        do throws(TransportError) {
            let written = try stream.tryWrite(bytes) ?? 0
            if written < bytes.byteCount { queue(bytes.extracting(droppingFirst: written)) }
        } catch {
            abort(error == .connectionReset ? .reset : .failed(error))
        }
    }

    private func queue(_ bytes: RawSpan) {
        sendBuffers.append(bytes)
        if writeQueue.append(bytes.byteCount) { startWrite() }
        beginBackPressure()
        updateAccount()
    }

    func beginBackPressure() {
        guard writeQueue.isAboveHighWatermark else { return }
        pauseReading(.backPressure)
        deadlines.waitsForNoRest()
    }

    func startWrite() {
        writeQueue.startWrite()
        sendBuffers.startWrite()
        deadlines.observeUnsent(writeQueue.inFlightByteCount, at: loop.sweep)
        do throws(TransportError) {
            try stream.write(sendBuffers)
        } catch {
            abort(error == .connectionReset ? .reset : .failed(error))
        }
    }

    /// libuv's result of the write in flight.
    func didWrite(_ status: Int32) {
        sendBuffers.endWrite()
        guard !life.isClosed else { return }
        let needsWrite = writeQueue.endWrite()
        guard status >= 0 else {
            let error = transportError(status, .write)
            abort(error == .connectionReset ? .reset : .failed(error))
            return
        }
        deadlines.observeUnsent(0, at: loop.sweep)
        lendSendBuffer()
        if needsWrite { startWrite() }
        guard !life.isClosed else { return }
        updateAccount()
        if life.isFlushing, writeQueue.isEmpty { linger() }
        endBackPressure()
    }

    func endBackPressure() {
        guard life.isOpen, reading.isUnderBackPressure, !writeQueue.isAboveHighWatermark else {
            return
        }
        switch reading.endBackPressure(hasUnconsumedBytes: !readBuffer.isEmpty) {
        case .read(let startsReading):
            if startsReading { stream.startReading() }
            deliverInputEnd()
        case .iterate(let queues):
            if queues { loop.queueForIteration(self) }
        }
    }
}
