import FeedLog
import FeedRanking
import FeedTestSupport
import Glibc
import Testing

@Suite struct ChangeLogsTests {
    private static func append(_ log: ChangeLog, revision: UInt64) {
        log.append(.deletion(PostID(rawValue: 1), revision: revision))
    }

    @Test func aBatchTakesWhatWaitsAndNothingTwice() throws {
        let logs = ChangeLogs(count: 2, firstBatch: 5) {}
        var body: [UInt8] = [1, 2, 3]
        #expect(logs.newestBatch == 4)
        #expect(logs.openBatch == 5)
        #expect(logs.takeBatch(into: &body) == nil)
        #expect(body.isEmpty)
        #expect(logs.openBatch == 5, "An empty batch has no number.")

        let byteCount = logs[1].transaction {
            #expect(logs.newestBatch == 4)
            Self.append(logs[1], revision: 8)
            #expect(logs.newestBatch == 5, "It is said before the transaction ends.")
            Self.append(logs[1], revision: 9)
            #expect(logs.waitingByteCount == 0)
            return logs[1].byteCount
        }
        #expect(logs.waitingByteCount == byteCount)

        let first = try #require(logs.takeBatch(into: &body))
        #expect(first.number == 5 && first.entryCount == 2)
        #expect(body.count == byteCount + 4)
        #expect(logs.waitingByteCount == 0)
        #expect(logs.newestBatch == 5 && logs.openBatch == 6)
        #expect(logs.takeBatch(into: &body) == nil)

        logs[0].transaction { Self.append(logs[0], revision: 10) }
        #expect(logs.newestBatch == 6)
        let second = try #require(logs.takeBatch(into: &body))
        #expect(second.number == 6 && second.entryCount == 1)
        #expect(
            try LogEntryReader.entries(body) == [.deletion(PostID(rawValue: 1), revision: 10)]
        )
    }

    @Test func tellsOfABatchsFirstEntryOnceAndAfterTheTransaction() {
        let told = Locked(0)
        let logs = ChangeLogs(count: 3, firstBatch: 1) { told.withLock { $0 += 1 } }
        for batch in 1...3 {
            for log in 0..<3 {
                logs[log].transaction {
                    #expect(told.withLock { $0 } == (log == 0 ? batch - 1 : batch))
                    for _ in 0..<2 { Self.append(logs[log], revision: UInt64(batch)) }
                    #expect(told.withLock { $0 } == (log == 0 ? batch - 1 : batch))
                }
                // A transaction without log entries notifies of nothing.
                logs[log].transaction {}
                #expect(told.withLock { $0 } == batch)
            }
            #expect(logs.nextBody() != nil)
        }
    }

    @Test func noLogTakesAnything() {
        let log = ChangeLog.none
        log.transaction {
            Self.append(log, revision: 1)
            #expect(log.byteCount == 0 && log.isNone)
        }
    }

    /// Threads write transactions of some log entries, each with an outcome, while batches are
    /// taken.
    @Test func noTransactionIsSplitAndBatchesAreInOrder() async throws {
        let logs = ChangeLogs(count: 3, firstBatch: 1) {}
        let revisions = Locked<UInt64>(0)
        let (bodies, faults) = try await logs.batches { loop in
            var faults: [String] = []
            var random = SeededGenerator(seed: UInt64(loop))
            for transaction in 0..<2_000 {
                logs[loop].transaction {
                    for _ in 0..<Int.random(in: 0..<6, using: &random) {
                        let revision = revisions.withLock { revisions in
                            revisions += 1
                            Self.append(logs[loop], revision: revisions)
                            return revisions
                        }
                        logs[loop].append(
                            ChannelOutcome(
                                channel: UInt64(loop),
                                sequence: UInt64(transaction),
                                requestHash: 0,
                                outcome: .id(revision)
                            )
                        )
                        // The taker of a batch waits for this transaction while others run.
                        if random.oneIn(4) { sched_yield() }
                        if logs.newestBatch != logs.openBatch {
                            faults.append("A batch has no entry.")
                        }
                    }
                }
            }
            return faults
        }
        #expect(faults.isEmpty, "\(faults.first ?? "")")
        var last: UInt64 = 0
        var lastTransactions = [-1, -1, -1]
        for body in bodies {
            var transactions: [Int] = [-1, -1, -1]
            for entry in try LogEntryReader.entries(body) {
                switch entry {
                case .deletion(_, let revision):
                    #expect(revision == last + 1)
                    last = revision
                case .outcome(let outcome):
                    #expect(outcome.outcome == .id(last))
                    let loop = Int(outcome.channel)
                    #expect(Int(outcome.sequence) > lastTransactions[loop], "A split transaction.")
                    transactions[loop] = Int(outcome.sequence)
                default:
                    Issue.record("\(entry) was never written.")
                }
            }
            for loop in 0..<3 {
                lastTransactions[loop] = max(lastTransactions[loop], transactions[loop])
            }
        }
        #expect(last == revisions.withLock { $0 })
    }
}
