extension TCPConnection {
    /// What closing the connection gives back: the memory of what it has read and not used and of
    /// what is unsent, and, while that waits, what the kernel's full send buffer holds.
    ///
    /// What is owed is not among it: it is kept by the handler.
    private var heldByteCount: Int {
        let held = readBuffer.capacityByteCount
        guard !writeQueue.isClear else { return held }
        return held + sendBuffers.capacityByteCount + kernelByteCount
    }

    /// The most that the kernel takes for the connection: it doubles the size that it is given.
    private var kernelByteCount: Int {
        lentByteCount > 0 ? lentByteCount : 2 * (loop.configuration.sendBufferByteCount ?? 0)
    }

    /// Tells the budget what the connection holds now, and stops reading above the fair share.
    func updateAccount() {
        let held = heldByteCount
        guard held != accountedByteCount else { return }
        loop.budget.add(held - accountedByteCount, for: hostSlot)
        let isMore = held > accountedByteCount
        accountedByteCount = held
        pauseOverBudget()
        if isMore { loop.relieveSoonIfNeeded() }
    }

    /// Tells the budget of the memory that a closed connection keeps until libuv lets go of its
    /// handle: the loop serves thousands of others before, and they must not be given it.
    func countUnfreed() {
        closingByteCount = sendBuffers.capacityByteCount
        loop.budget.addReserved(closingByteCount)
    }

    /// Whether what the handler has left, for the rest of a frame or for its next turn, may be kept.
    ///
    /// It is asked at once and not in a relief, as one wait of the loop may bring reads of thousands
    /// of connections before the next one.
    func hasRoomForUnused() -> Bool {
        let more = heldByteCount - accountedByteCount
        guard loop.configuration.closesOverBudget, more > 0,
            readBuffer.byteCount > TransportLimits.alwaysKeptByteCount
        else { return true }
        return loop.budget.hasRoom(forUnfinished: more, of: hostSlot)
    }

    /// Closes the connection, as there is no room for what its handler has left.
    ///
    /// It does not count as a closing for the sake of others: it gives nothing back.
    func closeForWantOfRoom() {
        abort(.overBudget(heldByteCount: heldByteCount), withReset: true)
    }

    /// Reads, or does not, as the budget and the fair share say.
    func pauseOverBudget() {
        let isOver =
            loop.budget.isNearlyExhausted && accountedByteCount > loop.budget.fairShareByteCount
        if isOver, phase == .open {
            pauseReading(.budget)
        } else if pauses.contains(.budget) {
            resumeReading(.budget)
        }
    }

    /// Whether the connection may be closed for the sake of others: it takes nothing, its host holds
    /// more than its share, or it holds more than half of an equal share itself.
    ///
    /// A host's share does not depend on its connections, so many small ones are not spared. Those
    /// that hold less hold half of the limit together, and so never all that is too much.
    ///
    /// - Parameters:
    ///   - onlyStalled: Whether it is spared if it takes some of its answers.
    ///   - sparesModestHosts: Whether it is spared if its host holds no more than its share.
    /// - Returns: Whether it is a candidate.
    func mayBeClosed(onlyStalled: Bool, sparesModestHosts: Bool) -> Bool {
        guard phase != .closed, accountedByteCount > 0 else { return false }
        if onlyStalled, !isStalled { return false }
        if isOfGreedyHost { return true }
        guard !sparesModestHosts else { return false }
        return onlyStalled || accountedByteCount > loop.budget.fairShareByteCount / 2
    }

    /// Whether more is held for the connection's host than the host's share.
    var isOfGreedyHost: Bool {
        loop.budget.byteCount(of: hostSlot) > loop.budget.hostShareByteCount
    }

    /// Whether the peer takes nothing of what is unsent.
    var isStalled: Bool { deadlines.isStalled(at: loop.sweep) }

    /// Closes for the sake of others.
    func closeOverBudget() {
        loop.budget.countClosing()
        abort(.overBudget(heldByteCount: accountedByteCount), withReset: true)
    }
}

/// A small send buffer for everyone bounds what the kernel holds; a peer that took all of a long
/// answer is lent a larger one, so that it does not have to be asked for each part of the next.
extension TCPConnection {
    /// Lends a larger send buffer, if there is one: the peer took all that was in flight.
    func lendSendBuffer() {
        lastFlight = loop.sweep
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
        guard phase != .closed, let byteCount = loop.configuration.sendBufferByteCount else {
            return
        }
        stream.setSendBuffer(byteCount: byteCount)
    }
}
