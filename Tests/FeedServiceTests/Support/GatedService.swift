import FeedJournal
import FeedService
import FeedState
import FeedTestSupport
import Foundation
import Logging
import Testing

/// Runs a durable service in this process behind a gate that delays its commits, while `body` runs on
/// a thread of its own.
func withGatedService(
    logger: Logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
    _ configure: (inout ServiceConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (UInt16, JournalGate) throws -> Void
) async throws {
    let directory = try TemporaryDirectory()
    let gate = JournalGate()
    try await withService(logger: logger) {
        $0.state = gate.state(directory, logCount: $0.threadCount)
        // A closed gate is no stall, however long a busy machine takes.
        $0.limits.stallLimit = .seconds(3_600)
        configure(&$0)
    } _: { port in
        // The service cannot end while the gate is closed.
        defer { gate.open() }
        try body(port, gate)
    }
}

extension JournalGate {
    /// The state of a directory whose journal is behind the gate.
    func state(_ directory: TemporaryDirectory, logCount: Int) -> StateOptions {
        var state = StateOptions(path: directory.path, logCount: logCount)
        state.testHooks.filterJournal = filter
        state.journal.space.ballastByteCount = 1 << 20
        return state
    }
}

/// Stands before a journal and lets commits through when a test says so: a disk that is slow.
final class JournalGate: @unchecked Sendable {
    private struct State {
        var isClosed = false
        var largestByteCount = 0
    }

    private let state = Locked(State())
    private let arrived = DispatchSemaphore(value: 0)
    private let permits = DispatchSemaphore(value: 0)

    /// From now on commits wait.
    func close() { state.withLock { $0.isClosed = true } }

    func awaitCommit() { arrived.wait() }

    /// Waits until a commit waits, and until the loop of a service holds the answer to the change.
    ///
    /// The commit may begin before: a clock that a test moves then would be read too late.
    func awaitHeldAnswer(_ port: UInt16) throws {
        awaitCommit()
        try Self.awaitIterations(port)
    }

    /// Waits until the loop has ended the iterations that are under way, so that all answers that are
    /// not held have been sent.
    ///
    /// The loop closes a connection that asked for nothing. The second one is closed in a later
    /// iteration than the first.
    static func awaitIterations(_ port: UInt16) throws {
        for _ in 0..<2 {
            let socket = try TestSocket(port: port)
            socket.shutDownSending()
            #expect(try socket.receiveUntilEndOfFile().isEmpty)
        }
    }

    func letOneThrough() { permits.signal() }

    /// Lets the commit through that waits, and all to come.
    func open() {
        state.withLock { $0.isClosed = false }
        permits.signal()
    }

    /// The bytes of the largest commit so far.
    var largestByteCount: Int { state.withLock { $0.largestByteCount } }

    func filter(_ journal: any WatchedJournal) -> any WatchedJournal {
        GatedJournal(base: journal, gate: self)
    }

    fileprivate func pass(byteCount: Int) {
        let isClosed = state.withLock { state in
            state.largestByteCount = max(state.largestByteCount, byteCount)
            return state.isClosed
        }
        guard isClosed else { return }
        arrived.signal()
        permits.wait()
    }
}

private final class GatedJournal: WatchedJournal {
    private let base: any WatchedJournal
    private let gate: JournalGate

    init(base: any WatchedJournal, gate: JournalGate) {
        self.base = base
        self.gate = gate
    }

    var last: JournalPosition { base.last }

    func append(
        _ body: Span<UInt8>,
        count: UInt32,
        at microseconds: UInt64
    ) throws(StorageError) -> JournalPosition {
        gate.pass(byteCount: body.count)
        return try base.append(body, count: count, at: microseconds)
    }

    func replay(
        after number: UInt64,
        _ body: (JournalRecord, Span<UInt8>) -> Bool
    ) throws(StorageError) {
        try base.replay(after: number, body)
    }

    func forget(through number: UInt64) throws(StorageError) { try base.forget(through: number) }

    func erase() throws(StorageError) { try base.erase() }

    var unmarkedByteCount: Int { base.unmarkedByteCount }

    func syncMark() throws(StorageError) -> SyncMark? { try base.syncMark() }

    func noteSynced(_ mark: SyncMark) throws(StorageError) { try base.noteSynced(mark) }

    func noteFailedSync(_ error: StorageError) { base.noteFailedSync(error) }

    func checkSpace() throws(StorageError) -> SpaceWatch.Mode { try base.checkSpace() }

    func freeByteCount() throws(StorageError) -> Int { try base.freeByteCount() }

    var fileByteCount: Int { base.fileByteCount }

    var writableByteCount: Int { base.writableByteCount }

    var hasBallast: Bool { base.hasBallast }
}
