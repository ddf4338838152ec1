extension TCPConnection {
    /// Sends bytes: at once if nothing is queued and the kernel takes them; otherwise they are
    /// copied and follow later.
    ///
    /// A connection that is closing takes nothing more.
    package func write(_ bytes: RawSpan) {
        loop.preconditionOnLoop()
        guard life.isOpen, bytes.byteCount > 0 else { return }
        if let security { return sendSecured(bytes, security) }
        send(bytes)
    }

    /// Sends bytes as they are.
    func send(_ bytes: RawSpan) {
        guard writeQueue.isEmpty else {
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

    private func beginBackPressure() {
        guard writeQueue.isAboveHighWatermark else { return }
        pauseReading(.backPressure)
        deadlines.waitsForNoRest()
    }

    private func startWrite() {
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

    private func endBackPressure() {
        guard life.isOpen, reading.pauses.contains(.backPressure),
            !writeQueue.isAboveHighWatermark
        else { return }
        unblock(.backPressure)
    }
}

extension TCPConnection {
    /// Sends the bytes of an array; see ``write(_:)-(RawSpan)``.
    package func write(_ bytes: [UInt8]) {
        bytes.withRawSpan { write($0) }
    }
}
