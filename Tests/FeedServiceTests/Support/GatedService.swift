import FeedJournal
import FeedService
import FeedState
import FeedTestSupport
import Logging

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
