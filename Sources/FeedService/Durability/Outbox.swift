internal import FeedConcurrency
internal import FeedLog
internal import FeedTransport

/// Sends the answers of a loop, and holds those that wait for durability.
///
/// An answer is sent at once if all changes that it may reflect are durable. Otherwise the outbox
/// holds it until then. Every answer may reflect a change that another client has just made: a read,
/// an error and the answer to a repeat, too. So each answer waits for the newest commit batch that
/// has any log entry, as of the release of the last lock of the answer's loop iteration.
final class Outbox {
    private let logs: ChangeLogs?
    private let budget: BufferBudget
    private let counters: LoopCounters
    private let timer: CallTimer
    /// The last commit batch that is durable, as far as the loop was notified.
    private var durableBatch: UInt64
    private var held = HeldBatches()

    /// An outbox that holds nothing if there are no logs, and otherwise the answers that wait for
    /// later commit batches than `durableBatch`.
    init(
        _ logs: ChangeLogs?,
        durableBatch: UInt64,
        _ budget: BufferBudget,
        _ counters: LoopCounters,
        timer: CallTimer
    ) {
        self.timer = timer
        self.logs = logs
        self.durableBatch = durableBatch
        self.budget = budget
        self.counters = counters
    }

    /// The newest commit batch that an answer may have to wait for.
    var newestBatch: UInt64 { logs?.newestBatch ?? 0 }

    /// Whether answers that waited for a commit batch have been sent.
    func isDurable(_ commitBatch: UInt64) -> Bool { commitBatch <= durableBatch }

    /// Sends the answers of a loop iteration, after the release of its last lock, and times their calls:
    /// now, or once they are released.
    ///
    /// The clock is read once for each write, however many answers it has.
    ///
    /// If a call has a secret, the bytes are overwritten once they are sent.
    func send(_ bytes: RawSpan, of calls: borrowing AnsweredCalls, to recipient: Recipient) {
        guard let logs, logs.newestBatch > durableBatch else {
            // The newest batch is durable, so the answers that waited for it have been released.
            recipient.send(bytes)
            timer.count(calls, from: recipient)
            return
        }
        guard recipient.isOpen else {
            // The peer has gone; its calls were executed all the same.
            timer.count(calls, from: recipient)
            return
        }
        guard calls.ahead.isEmpty else { return sendAhead(bytes, of: calls, to: recipient) }
        hold(bytes, of: calls, for: recipient, until: logs.newestBatch)
    }

    private func hold(
        _ bytes: RawSpan,
        of calls: borrowing AnsweredCalls,
        for recipient: Recipient,
        until commitBatch: UInt64
    ) {
        recipient.hold(bytes.byteCount)
        let (uncountedByteCount, beginsBatch) = held.hold(
            bytes,
            of: calls,
            for: recipient,
            until: commitBatch,
            since: timer.now
        )
        if uncountedByteCount > 0 { budget.addReserved(uncountedByteCount) }
        if beginsBatch { counters.set(.heldWrites, to: held.writeCount) }
    }

    /// Sends the answers that are not held, and holds the others.
    private func sendAhead(
        _ bytes: RawSpan,
        of calls: borrowing AnsweredCalls,
        to recipient: Recipient
    ) {
        var rest: [UInt8] = []
        var end = 0
        for range in calls.ahead {
            rest.append(copying: bytes.extracting(end..<range.lowerBound))
            recipient.sendAhead(bytes.extracting(range))
            end = range.upperBound
        }
        rest.append(copying: bytes.extracting(end..<bytes.byteCount))
        guard !rest.isEmpty else { return timer.count(calls, from: recipient) }
        var restCalls = AnsweredCalls()
        restCalls.begin(at: calls.arrival)
        for run in calls.runs { restCalls.add(run.method, run.count, firstID: run.firstID) }
        restCalls.hasSecret = calls.hasSecret
        rest.withRawSpan { hold($0, of: restCalls, for: recipient, until: newestBatch) }
    }

    /// Divides all answers that are held, as a commit stands still, and sends a part of them ahead.
    func sendHeldAhead(
        _ divide: (RawSpan, ArraySlice<AnsweredCalls.Run>) -> HeldDivision
    ) {
        let (early, byteCount) = held.divide(timer, divide)
        budget.addReserved(byteCount)
        counters.set(.heldWrites, to: held.writeCount)
        // Not before, as a connection that reads again may have more answers held.
        for write in early { write.send() }
    }

    /// Sends all answers that waited for commit batches up to this one, which are durable now.
    func release(through commitBatch: UInt64) {
        durableBatch = max(durableBatch, commitBatch)
        while let answers = held.takeFirst(through: durableBatch) {
            answers.release(timer)
            budget.addReserved(-answers.countedByteCount)
            held.reuse(consume answers)
        }
        counters.set(.heldWrites, to: held.writeCount)
    }
}

@available(*, unavailable)
extension Outbox: Sendable {}

/// A connection that a loop's ``Outbox`` sends answers to, and the count of the bytes that the outbox
/// holds for it.
///
/// Held bytes are unsent like those that the transport has. Together they are limited: above the
/// limit the connection is suspended, so that nothing more is executed for it. It is closed only
/// after its held answers have been sent.
final class Recipient {
    /// The transport releases its handler, and with it this object, once the connection is closed.
    private let connection: TCPConnection
    /// The unsent bytes at which the connection is suspended.
    private let unsentLimitByteCount: Int
    /// The answers that the outbox holds.
    private var heldByteCount = 0
    private var isSuspended = false
    private var closesAfterRelease = false

    private static var hotByteCount: Int { 48 }

    init(_ connection: TCPConnection, unsentLimitByteCount: Int) {
        self.connection = connection
        self.unsentLimitByteCount = unsentLimitByteCount
    }

    var peer: SocketAddress { connection.peer }

    /// The bytes of answers that the peer's kernel or this one has not taken.
    var unsentByteCount: Int { heldByteCount + connection.pendingByteCount }

    var isOpen: Bool { connection.isOpen }

    /// Its memory and its connection's, to be requested some time before answers are released.
    var memory: Memory {
        Memory(
            own: .of(self, byteCount: Self.hotByteCount),
            connection: .of(connection, byteCount: TCPConnection.hotByteCount)
        )
    }

    /// Requests its own memory, some time before answers are held.
    func prefetch() { ObjectMemory.of(self, byteCount: Self.hotByteCount).prefetch() }

    /// Sends answers that need not be held.
    func send(_ bytes: RawSpan) {
        precondition(heldByteCount == 0, "An answer would pass those that are held.")
        connection.write(bytes)
    }

    /// Sends answers that pass those that are held.
    func sendAhead(_ bytes: RawSpan) { connection.write(bytes) }

    func hold(_ byteCount: Int) {
        heldByteCount += byteCount
        if unsentByteCount >= unsentLimitByteCount { suspend() }
    }

    /// Sends the first of the answers that are held; without effect where the connection is closed.
    func release(_ bytes: RawSpan) { release(bytes, inPlaceOf: bytes.byteCount) }

    /// Sends bytes in place of some that are held.
    func release(_ bytes: RawSpan, inPlaceOf byteCount: Int) {
        heldByteCount -= byteCount
        connection.write(bytes)
        if closesAfterRelease {
            if heldByteCount == 0 { connection.closeAfterFlush() }
        } else if isSuspended,
            heldByteCount == 0 || unsentByteCount <= unsentLimitByteCount / 4
        {
            isSuspended = false
            connection.resume()
        }
    }

    /// The connection has requests left and no room for their answers.
    ///
    /// If the outbox holds all unsent bytes, only a release makes room, so the connection is
    /// suspended until then. Otherwise the transport waits for its own writes.
    func waitForRoom() {
        if heldByteCount > 0, connection.pendingByteCount == 0 { suspend() }
    }

    /// Closes the connection once all answers have been sent, also those that are held now.
    ///
    /// Nothing more can be sent.
    func closeAfterFlush() {
        guard heldByteCount > 0 else { return connection.closeAfterFlush() }
        closesAfterRelease = true
        suspend()
    }

    private func suspend() {
        isSuspended = true
        connection.suspend()
    }
}

extension Recipient {
    /// The memory that a release of answers looks at.
    struct Memory: BitwiseCopyable {
        fileprivate let own: ObjectMemory
        fileprivate let connection: ObjectMemory

        func prefetch() {
            own.prefetch()
            connection.prefetch()
        }
    }
}

@available(*, unavailable)
extension Recipient: Sendable {}

/// Takes the time of a loop's calls when their answers are with the kernel, and reports slow ones.
///
/// A write has one time, however many answers it has. So slow calls cost the others one comparison a
/// write.
struct CallTimer {
    /// Takes slow calls, their peer, how long they took and how long their answers were held, in
    /// nanoseconds.
    typealias Report = (AnsweredCalls.Run, SocketAddress, UInt64, UInt64) -> Void

    private let counters: LoopCounters
    /// The clock that tests move; nil is the system's clock.
    private let clock: ManualClock?
    /// A call that took longer is reported.
    private let slowNanoseconds: UInt64
    private let report: Report

    /// Counts into `counters`, and reports calls that took longer than `slowTime`; nil reports none.
    init(
        _ counters: LoopCounters,
        slowTime: Duration?,
        clock: ManualClock?,
        report: @escaping Report
    ) {
        self.counters = counters
        self.clock = clock
        self.report = report
        slowNanoseconds = slowTime.map { UInt64(clamping: Int64($0 / .nanoseconds(1))) } ?? .max
    }

    var now: MonotonicInstant { clock?.now ?? .now }

    /// Times calls whose answers have left, and were not held.
    func count(_ calls: borrowing AnsweredCalls, from recipient: Recipient) {
        guard !calls.isEmpty else { return }
        let nanoseconds = now.nanoseconds(since: calls.arrival)
        for run in calls.runs {
            counters.latency(run.method).count(run.count, nanoseconds: nanoseconds)
        }
        guard nanoseconds > slowNanoseconds else { return }
        for run in calls.runs { report(run, recipient.peer, nanoseconds, 0) }
    }

    /// Times calls whose answers were held until now, and have left.
    func count(
        _ runs: Span<AnsweredCalls.Run>,
        arrivedAt arrival: MonotonicInstant,
        heldSince: MonotonicInstant,
        from recipient: Recipient
    ) {
        let now = now
        let nanoseconds = now.nanoseconds(since: arrival)
        let held = now.nanoseconds(since: heldSince)
        var callCount = 0
        for index in runs.indices {
            let run = runs[index]
            counters.latency(run.method).count(run.count, nanoseconds: nanoseconds)
            callCount += run.count
        }
        counters.heldTime.count(callCount, nanoseconds: held)
        guard nanoseconds > slowNanoseconds else { return }
        for index in runs.indices { report(runs[index], recipient.peer, nanoseconds, held) }
    }
}

@available(*, unavailable)
extension CallTimer: Sendable {}

extension MonotonicInstant {
    /// The nanoseconds since an earlier instant; 0 since a later one.
    fileprivate func nanoseconds(since earlier: Self) -> UInt64 {
        nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0
    }
}
