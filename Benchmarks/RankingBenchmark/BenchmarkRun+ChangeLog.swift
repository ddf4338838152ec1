import FeedLog
import FeedRanking

extension BenchmarkRun {
    /// What the change log adds to a vote, and what it costs to read and to put back.
    mutating func measureChangeLog() {
        let ids = VoteKeys.uniform.draw(1_000_000, of: postCount, &random)
        let logs = ChangeLogs(count: 1, firstBatch: 1) {}
        var body: [UInt8] = []
        // As in a loop iteration of the service: so many votes a transaction, so many transactions
        // a batch.
        for transactionVoteCount in [1, 16, 64] {
            var nanoseconds: [Double] = []
            for log in [ChangeLog.none, logs[0]] {
                nanoseconds.append(
                    Measurement.median {
                        let start = Measurement.processorNanoseconds()
                        castVotes(ids, log, transactionVoteCount, logs, &body)
                        let used = Measurement.processorNanoseconds() - start
                        return Double(used) / Double(ids.count)
                    }
                )
            }
            let name = "vote, \(transactionVoteCount) a transaction"
            Measurement.show("\(name), without a log", nanoseconds[0])
            Measurement.show("\(name), what the log adds", nanoseconds[1] - nanoseconds[0])
        }
        measureAppends(logs)
        measureReading(ids)
        measureRecovery(ids)
    }

    private func castVotes(
        _ ids: [PostID],
        _ log: ChangeLog,
        _ transactionVoteCount: Int,
        _ logs: ChangeLogs,
        _ body: inout [UInt8]
    ) {
        for first in stride(from: 0, to: ids.count, by: transactionVoteCount) {
            let transaction = first..<min(first + transactionVoteCount, ids.count)
            for index in transaction { store.prefetch(ids[index]) }
            log.transaction {
                for index in transaction {
                    let outcome = try? store.castVote(ids[index], .up, at: weight, sink: log)
                    if outcome?.refreshIsDue == true { store.refresh(stripeOf: ids[index]) }
                }
            }
            if first % 4_096 == 0, !log.isNone { _ = logs.takeBatch(into: &body) }
        }
    }

    /// Outcomes of numbered calls, by themselves.
    private func measureAppends(_ logs: ChangeLogs) {
        var body: [UInt8] = []
        let perOutcome = Measurement.median {
            let start = Measurement.processorNanoseconds()
            for transaction in 0..<10_000 {
                logs[0].transaction {
                    for call in 0..<64 {
                        logs[0].append(
                            ChannelOutcome(
                                channel: UInt64(transaction & 1_023),
                                sequence: UInt64(transaction * 64 + call),
                                requestHash: 0xDEAD_BEEF,
                                outcome: .done
                            )
                        )
                    }
                }
                if transaction % 64 == 0 { _ = logs.takeBatch(into: &body) }
            }
            return Double(Measurement.processorNanoseconds() - start) / 640_000
        }
        Measurement.show("appending an outcome", perOutcome)
    }

    private mutating func measureReading(_ ids: [PostID]) {
        for partCount in [1, 4] {
            let logs = ChangeLogs(count: partCount, firstBatch: 1) {}
            for first in stride(from: 0, to: ids.count, by: 16) {
                let log = logs[first / 16 % partCount]
                log.transaction {
                    for index in first..<min(first + 16, ids.count) {
                        _ = try? store.castVote(ids[index], .up, at: weight, sink: log)
                    }
                }
            }
            var body: [UInt8] = []
            _ = logs.takeBatch(into: &body)
            let perEntry = Measurement.median {
                let start = Measurement.processorNanoseconds()
                var count = 0
                if var reader = try? LogEntryReader(body) {
                    while case .counts = try? reader.next() { count += 1 }
                }
                precondition(count == ids.count, "Log entries are missing.")
                return Double(Measurement.processorNanoseconds() - start) / Double(count)
            }
            Measurement.show("reading a vote of \(partCount) logs", perEntry)
            let bytes = Double(body.count) / Double(ids.count)
            Measurement.show("  its size", bytes, "bytes")
        }
    }

    /// Loads all posts into a new store, then votes on them.
    private mutating func measureRecovery(_ ids: [PostID]) {
        var posts: [PostState] = []
        store.forEachPost { posts.append($0) }
        posts.sort { $0.counts.id < $1.counts.id }
        var votes: [PostCounts] = []
        for (index, id) in ids.enumerated() {
            var counts = posts[Int(id.rawValue) - 1].counts
            counts.upvoteCount += UInt64(index)
            counts.revision = store.revision + UInt64(index) + 1
            votes.append(counts)
        }
        let restored = FeedStore(stripeCount: 16) { 0 }
        var start = Measurement.processorNanoseconds()
        for post in posts { try? restored.apply(.post(post)) }
        var used = Measurement.processorNanoseconds() - start
        precondition(restored.postCount == store.postCount, "Posts are missing.")
        Measurement.show("putting a post back", Double(used) / Double(posts.count))
        start = Measurement.processorNanoseconds()
        for vote in votes { try? restored.apply(.counts(vote)) }
        used = Measurement.processorNanoseconds() - start
        Measurement.show("putting a vote back", Double(used) / Double(votes.count))
        showFirstPage(of: restored)
        start = Measurement.processorNanoseconds()
        let hash = restored.stateHash()
        used = Measurement.processorNanoseconds() - start
        precondition(hash != 0, "A hash is 0.")
        Measurement.show("hashing a post", Double(used) / Double(posts.count))
    }

    /// The first page of each order after a start builds its index, in several tries.
    private mutating func showFirstPage(of restored: FeedStore) {
        for order in [Order.top, .new, .hot] {
            var allowance = RefreshAllowance()
            let query = PageQuery(feed: Self.feed, order: order, size: 20)
            var tries: [Int] = []
            var outcome: PageOutcome? = .again
            while outcome == .again {
                let start = Measurement.processorNanoseconds()
                outcome = try? restored.page(query, into: &page, allowance: &allowance)
                tries.append(Measurement.processorNanoseconds() - start)
                allowance.renew()
            }
            let sum = Double(tries.reduce(0, +)) / 1_000_000
            let longest = Double(tries.max() ?? 0) / 1_000_000
            Measurement.show("first page of \(order) after that", sum, "ms")
            Measurement.show("  the longest of \(tries.count) tries", longest, "ms")
        }
    }
}
