extension TCPConnection {
    /// The bytes that closing the connection returns: the memory of bytes that were read and not
    /// used, the memory of unsent bytes, and, while those wait, the bytes in the kernel's full send
    /// buffer.
    private var heldByteCount: Int {
        let held = readBuffer.capacityByteCount
        guard !writeQueue.isEmpty else { return held }
        return held + sendBuffers.capacityByteCount + kernelByteCount
    }

    /// The most that the kernel takes for the connection: it doubles the size that it is given.
    private var kernelByteCount: Int {
        lentByteCount > 0 ? lentByteCount : 2 * (loop.configuration.sendBufferByteCount ?? 0)
    }

    /// Counts in the budget what the connection holds now, and stops reading above the fair share.
    func updateAccount() {
        let held = heldByteCount
        guard held != accountedByteCount else { return }
        loop.budget.add(held - accountedByteCount, for: hostSlot)
        let isMore = held > accountedByteCount
        accountedByteCount = held
        pauseOverBudget()
        if isMore { loop.relieveSoonIfNeeded() }
    }

    /// Counts in the budget the memory that a closed connection keeps until libuv releases its
    /// handle.
    ///
    /// The loop serves thousands of others before that, and they must not get this memory.
    func countUnfreed() {
        closingByteCount = sendBuffers.capacityByteCount
        loop.budget.addReserved(closingByteCount)
    }

    /// Whether the bytes that the handler has left, for the rest of a frame or for its next
    /// iteration, may be kept.
    ///
    /// It is checked at once and not in a relief, because one wait of the loop may bring reads of
    /// thousands of connections before the next relief.
    func hasRoomForUnused() -> Bool {
        let more = heldByteCount - accountedByteCount
        guard loop.configuration.closesOverBudget, more > 0,
            readBuffer.byteCount > TransportLimits.alwaysKeptByteCount
        else { return true }
        return loop.budget.hasRoom(forUnfinished: more, of: hostSlot)
    }

    /// Closes the connection, because there is no room for the bytes that its handler has left.
    ///
    /// It does not count as closed for the sake of others: it gives nothing back.
    func closeForWantOfRoom() {
        abort(.overBudget(heldByteCount: heldByteCount), withReset: true)
    }

    /// Pauses or resumes reading, according to the budget and the fair share.
    func pauseOverBudget() {
        let isOver =
            loop.budget.isNearlyExhausted && accountedByteCount > loop.budget.fairShareByteCount
        if isOver, life.isOpen {
            pauseReading(.budget)
        } else if reading.pauses.contains(.budget) {
            resumeReading(.budget)
        }
    }

    /// Whether the connection may be closed for the sake of others: it takes nothing, its host
    /// holds more than its share, or it holds more than half of an equal share itself.
    ///
    /// A host's share does not depend on its number of connections, so many small ones are not
    /// spared. Those that hold less hold at most half of the limit together, and so never the whole
    /// excess.
    ///
    /// - Parameters:
    ///   - onlyStalled: Whether it is spared if it takes some of its answers.
    ///   - sparesModestHosts: Whether it is spared if its host holds no more than its share.
    /// - Returns: Whether it is a candidate.
    func mayBeClosed(onlyStalled: Bool, sparesModestHosts: Bool) -> Bool {
        guard !life.isClosed, accountedByteCount > 0 else { return false }
        if onlyStalled, !isStalled { return false }
        if isOfGreedyHost { return true }
        guard !sparesModestHosts else { return false }
        return onlyStalled || accountedByteCount > loop.budget.fairShareByteCount / 2
    }

    /// Whether the connection's host holds more than its share.
    var isOfGreedyHost: Bool {
        loop.budget.byteCount(of: hostSlot) > loop.budget.hostShareByteCount
    }

    /// Whether the peer takes none of the unsent bytes.
    var isStalled: Bool { deadlines.isStalled(at: loop.sweep) }

    /// Closes for the sake of others.
    func closeOverBudget() {
        loop.budget.countClosing()
        abort(.overBudget(heldByteCount: accountedByteCount), withReset: true)
    }
}

/// A small send buffer for every connection bounds what the kernel holds. A peer that took all of a
/// long answer is lent a larger buffer, so that the loop need not wait for it at each part of the
/// next answer.
extension TCPConnection {
    /// Lends a larger send buffer, if there is one: the peer took all bytes in flight.
    func lendSendBuffer() {
        lastWriteSweep = loop.sweep
        guard lentByteCount == 0, let byteCount = loop.configuration.lentSendBufferByteCount,
            loop.budget.lend(2 * byteCount)
        else { return }
        lentByteCount = 2 * byteCount
        stream.setSendBuffer(byteCount: byteCount)
    }

    /// Gives a lent buffer back.
    func returnSendBuffer() {
        guard lentByteCount > 0 else { return }
        loop.budget.takeBack(lentByteCount)
        lentByteCount = 0
        guard !life.isClosed, let byteCount = loop.configuration.sendBufferByteCount else {
            return
        }
        stream.setSendBuffer(byteCount: byteCount)
    }
}
