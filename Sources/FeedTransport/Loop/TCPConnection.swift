internal import FeedConcurrency
internal import FeedTLS

/// One TCP connection on one loop: reads for its handler, sends what the handler writes, and closes
/// when a deadline passes.
///
/// This is the driver: it calls libuv and the handler. The decisions are those of its values:
/// ``ConnectionLife``, ``ReadingState``, ``WriteQueue`` and ``ConnectionDeadlines``. libuv holds the
/// connection until it is closed, so that no other owner is needed.
package final class TCPConnection {
    package typealias MakeHandler = @Sendable (TCPConnection) -> any ConnectionHandler

    // What each read and write of votes looks at comes first, in few cache lines: thousands of
    // connections are not in the processor's cache when their turn comes.

    package let loop: EventLoop
    // Not settable from outside, not even by name: so the compiler sees all changes of it, and
    // proves what it would otherwise check at each read.
    var receiver: (any ConnectionHandler)? {
        didSet { receiverMemory = receiver.map(Self.memory) ?? .none }
    }
    /// The memory of the handler, which is requested without a look at the handler.
    private(set) var receiverMemory = ObjectMemory.none
    let stream: UVStream
    /// The TLS of a secured connection, once its handshake has begun.
    var security: TLSConnection?
    var life = ConnectionLife.connecting
    /// Bytes were read that its handler has not been shown.
    var hasArrival = false
    var reading = ReadingState()
    var writeQueue: WriteQueue
    /// The bytes that the budget counts for this connection.
    var accountedByteCount = 0
    var deadlines: ConnectionDeadlines

    var readBuffer = ReadBuffer()
    private var sendBuffers = UVSendBuffers()
    /// The memory of the bytes that were unsent at the close; it is freed with the handle.
    var closingByteCount = 0
    package let peer: SocketAddress
    /// Whether the peer is behind a proxy: then its address is no proof that it is on this machine.
    package let isProxied: Bool
    package let hostSlot: HostSlot
    /// The size of the send buffer lent to it, as the kernel counts; 0 if it has its own.
    var lentByteCount = 0
    /// The sweep in which a write in flight last ended.
    var lastWriteSweep = 0
    package internal(set) var isSecured = false
    /// The handshake of a secured connection that is not open yet.
    var handshake: Handshake?
    var place = 0
    /// Whether the peer may be silent for longer than the idle timeout, because it waits for an
    /// answer that takes long.
    package var mayBeSilent = false

    /// The receiver of the connection's events; nil once it is closed.
    package var handler: (any ConnectionHandler)? { receiver }

    /// The connection of an accepted socket; ``open(_:)`` starts it.
    init(_ loop: EventLoop, _ stream: UVStream, peer: SocketAddress, isProxied: Bool = false) {
        self.loop = loop
        self.stream = stream
        self.peer = peer
        self.isProxied = isProxied
        hostSlot = HostSlot(peer.host)
        writeQueue = WriteQueue(loop.configuration)
        deadlines = ConnectionDeadlines(at: loop.sweep)
        stream.attach(self)
        place = loop.insert(self)
    }

    convenience init(
        _ loop: EventLoop,
        _ stream: UVStream,
        peer: SocketAddress,
        connecting handler: any ConnectionHandler,
        connectLimit: Int,
        security target: TLSTarget?
    ) {
        self.init(loop, stream, peer: peer)
        receiver = handler
        if let target {
            isSecured = true
            handshake = Handshake(.client(target))
        }
        deadlines = ConnectionDeadlines(at: loop.sweep, connectLimit: connectLimit)
    }

    /// Whether the handler may still be shown bytes and write some.
    package var isOpen: Bool { life.isOpen }

    /// Bytes that were written and that the kernel has not taken.
    package var pendingByteCount: Int { writeQueue.byteCount }

    /// Whether the handler should do no more work for this peer because too much is unsent.
    ///
    /// The handler leaves its bytes, and is shown them again when the peer has taken its answers.
    package var isAboveHighWatermark: Bool { writeQueue.isAboveHighWatermark }

    /// The bytes that reads and writes of votes look at, from the connection's beginning.
    package static var hotByteCount: Int { 256 }

    /// What a handler looks at when it receives bytes.
    private static func memory(of handler: any ConnectionHandler) -> ObjectMemory {
        .of(handler, byteCount: type(of: handler).hotByteCount)
    }

    func open(_ handler: any ConnectionHandler) {
        receiver = handler
        didOpen()
    }

    func didConnect(_ status: Int32) {
        guard case .connecting = life else { return }
        guard status >= 0 else {
            return abort(.connectFailed(transportError(status, .connect(peer))))
        }
        if case .client(let target) = handshake?.side { return beginHandshake(with: target) }
        deadlines.opened(at: loop.sweep)
        didOpen()
    }

    private func didOpen() {
        life.open()
        receiver?.connectionOpened(self)
        resumeReading(.unopened)
    }
}

@available(*, unavailable)
extension TCPConnection: Sendable {}

/// Receives the events of one connection, on the connection's loop only.
package protocol ConnectionHandler: AnyObject {
    /// The first bytes of a handler that it looks at when it receives bytes, at most.
    ///
    /// They are requested before its turn, because the caches have forgotten them.
    static var hotByteCount: Int { get }

    /// The connection is ready: for a client, the peer has accepted.
    func connectionOpened(_ connection: TCPConnection)

    /// Delivers every byte that was not consumed yet, contiguous and valid for the call only.
    ///
    /// A call that the handler asked for (``TCPConnection/requestIteration()``) may bring no bytes.
    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress

    /// Announces bytes that are delivered soon, after those of some other connections.
    func connection(_ connection: TCPConnection, willReceive bytes: RawSpan)

    /// The peer ended its side; all bytes before the end were delivered, and unconsumed ones are
    /// discarded.
    func connectionEndedInput(_ connection: TCPConnection)

    /// The connection is gone; called exactly once and last, and never from within another call.
    func connectionClosed(_ connection: TCPConnection, reason: CloseReason)
}

extension ConnectionHandler {
    package static var hotByteCount: Int { 64 }

    package func connection(_ connection: TCPConnection, willReceive bytes: RawSpan) {}
}

/// What the peer sends, and whether the handler is shown it.
extension TCPConnection {
    /// Stops reading from the peer; bytes that were read before are still shown.
    package func stopReading() {
        loop.preconditionOnLoop()
        pauseReading(.handler)
    }

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
        // If nothing is held, the buffer does not have to be checked.
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
        guard error == .endOfFile else { return abort(for: error) }
        reading.endInput()
        switch life {
        case .open: deliverInputEnd()
        case .lingering: endLingering()
        case .connecting: if handshake != nil { fail(.endedInHandshake) }
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

    /// Drops what the handler has not consumed, which may be a part of a secret.
    func dropUnconsumed() {
        guard !readBuffer.isEmpty else { return }
        readBuffer.removeAll(overwriting: true)
        loop.hasReceivedSecret = true
    }

    func pauseReading(_ reason: ReadingState.Pauses) {
        if reading.pause(reason) { stream.stopReading() }
    }

    /// Removes reasons not to read; without any the connection is read from again.
    func resumeReading(_ reasons: ReadingState.Pauses) {
        if reading.resume(reasons) { stream.startReading(isSecured: isSecured) }
    }

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

/// What the handler writes.
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
            abort(for: error)
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
            abort(for: error)
        }
    }

    func didWrite(_ status: Int32) {
        sendBuffers.endWrite()
        guard !life.isClosed else { return }
        let needsWrite = writeQueue.endWrite()
        guard status >= 0 else { return abort(for: transportError(status, .write)) }
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

    package func write(_ bytes: [UInt8]) { bytes.withRawSpan { write($0) } }
}

/// What the connection holds, as its budget counts it.
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
    private func hasRoomForUnused() -> Bool {
        let more = heldByteCount - accountedByteCount
        guard loop.configuration.closesOverBudget, more > 0,
            readBuffer.byteCount > TransportLimits.alwaysKeptByteCount
        else { return true }
        return loop.budget.hasRoom(forUnfinished: more, of: hostSlot)
    }

    /// Closes the connection, because there is no room for the bytes that its handler has left.
    ///
    /// It does not count as closed for the sake of others: it gives nothing back.
    private func closeForWantOfRoom() {
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

    /// Whether the connection may be closed for the sake of others: it takes nothing, its host holds more
    /// than its share, or it holds more than half of an equal share itself.
    ///
    /// A host's share does not depend on its number of connections, so many small ones are not spared. Those
    /// that hold less hold at most half of the limit together, and so never the whole excess.
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
    private func lendSendBuffer() {
        lastWriteSweep = loop.sweep
        guard lentByteCount == 0, let byteCount = loop.configuration.lentSendBufferByteCount,
            loop.budget.lend(2 * byteCount)
        else { return }
        lentByteCount = 2 * byteCount
        stream.setSendBuffer(byteCount: byteCount)
    }

    func returnSendBuffer() {
        guard lentByteCount > 0 else { return }
        loop.budget.takeBack(lentByteCount)
        lentByteCount = 0
        guard !life.isClosed, let byteCount = loop.configuration.sendBufferByteCount else { return }
        stream.setSendBuffer(byteCount: byteCount)
    }
}
