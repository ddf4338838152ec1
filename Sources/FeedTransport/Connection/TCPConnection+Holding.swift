extension TCPConnection {
    /// Bytes that were held and not yet released.
    package var heldByteCount: Int { writeQueue.heldByteCount }

    /// Keeps bytes back until ``releaseHeld(_:)``; until then they count as unsent, and nothing can
    /// be written past them.
    ///
    /// A connection that is closing takes nothing more; what it holds it still sends once released.
    package func hold(_ bytes: RawSpan) {
        loop.preconditionOnLoop()
        guard phase == .open, bytes.byteCount > 0 else { return }
        outbox.hold(bytes)
        writeQueue.hold(bytes.byteCount)
        beginBackPressure()
        updateAccountRoughly()
    }

    /// Sends the first of the held bytes; without effect on a connection that is closed.
    package func releaseHeld(_ byteCount: Int) {
        loop.preconditionOnLoop()
        guard phase == .open || phase == .flushing, byteCount > 0 else { return }
        writeQueue.release(byteCount)
        do throws(TransportError) {
            let isClear = writeQueue.isClear
            let rest = try outbox.release(byteCount) { (bytes) throws(TransportError) in
                isClear ? try stream.tryWrite(bytes) ?? 0 : 0
            }
            if rest > 0, writeQueue.append(rest) { startFlight() }
        } catch {
            abort(error == .connectionReset ? .reset : .failed(error))
        }
        guard phase != .closed else { return }
        updateAccountRoughly()
        if phase == .flushing, writeQueue.isEmpty { linger() }
        endBackPressure()
    }

    /// Tells the budget of changes that matter to it: the little that most connections hold comes
    /// and goes with every turn, and the budget is shared by all loops.
    private func updateAccountRoughly() {
        let total = readBuffer.byteCount + writeQueue.byteCount
        let change = abs(total - accountedByteCount)
        if change >= TransportLimits.uncountedByteCount || total == 0 { updateAccount() }
    }
}
