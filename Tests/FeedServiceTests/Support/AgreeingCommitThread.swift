import FeedConcurrency
import FeedJournal
import FeedLog
import FeedState
import FeedTestSupport
import Testing

/// Commits for a cluster of one machine, whose replica agrees to each record at once.
final class AgreeingCommitThread: CommitThread {
    let progress: CommitProgress
    private let parts: CommitParts
    private let thread = NamedThread("feed-journal")
    private let isStopping = Locked(false)

    init(_ parts: CommitParts) {
        self.parts = parts
        progress = CommitProgress(
            of: parts.logs,
            parts.receiver,
            maximumWaitingByteCount: parts.maximumWaitingByteCount
        )
    }

    func wake() {
        progress.noteFirstEntry()
        thread.wake()
    }

    func start() throws(ThreadStartError) {
        try thread.start { [self] in
            do {
                try run()
            } catch {
                Issue.record("\(error)")
            }
        }
    }

    func stop() {
        isStopping.withLock { $0 = true }
        thread.wake()
        thread.join()
    }

    private func run() throws {
        let journal = parts.journal.value
        var chain = parts.chain
        var body: [UInt8] = []
        while true {
            let isLast = isStopping.withLock { $0 }
            while let batch = parts.logs.takeBatch(into: &body, after: chain.headByteCount) {
                let began = ContinuousClock.now
                let time = SystemClock.unixMicroseconds()
                chain.seal(&body, entryCount: batch.entryCount, at: time)
                let head = try chain.take(body.span, record: batch.number)
                let position = try journal.append(
                    body.span,
                    count: UInt32(batch.entryCount),
                    at: head?.microseconds ?? time
                )
                progress.noteDurable(batch.number)
                progress.statistics.count(
                    entryCount: batch.entryCount,
                    byteCount: body.count,
                    took: began.duration(to: .now)
                )
                parts.events.durable(batch.number)
                body = parts.receiver.submit(body, at: position)
            }
            if isLast { return }
            thread.waitForWakeUp(upTo: .seconds(1))
        }
    }
}
