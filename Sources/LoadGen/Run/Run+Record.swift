import FeedTransport

extension Run {
    /// What the run knows of its posts; nil where it made none, or only audited those of another
    /// run.
    func makeRecord() -> RunRecord? {
        guard let instanceID, !knowledge.accounts.isEmpty else { return nil }
        // An audit of another run's posts leaves them as they are.
        if let record { return record }
        let accounts = knowledge.accounts
        let isSplit = dataset != nil
        var record = RunRecord(
            instanceID: instanceID,
            feed: configuration.feed,
            startMilliseconds: startMilliseconds,
            endMilliseconds: serverMilliseconds,
            tallied: isSplit ? .directions : .scores,
            posts: accounts.enumerated().filter { !isSplit || $0.offset.isMultiple(of: 2) }
                .map(\.element.id),
            tallies: accounts.map(\.tally)
        )
        // Feeds that were not filled completely may have posts that the run does not know.
        if phases != nil { record.feeds = dataset?.feeds ?? [] }
        record.createdIDs = knowledge.createdIDs.sorted()
        record.unknownTitles = knowledge.unknownTitles.sorted()
        for (number, account) in accounts.enumerated() {
            if account.unknownCount > 0 { record.unknown[number] = account.unknownCount }
            if account.errorCount > 0 { record.failed[number] = account.errorCount }
            if account.repeatedCount > 0 { record.repeated[number] = account.repeatedCount }
        }
        return record
    }

    /// The service's clock now, estimated from its greeting.
    private var serverMilliseconds: Int64 {
        guard let greeted else { return .max }
        let passed = EventLoop.clock.duration(since: greeted.instant)
        return greeted.serverMilliseconds + Int64(passed.nanoseconds / 1_000_000)
    }
}

extension Dataset {
    /// The feeds that the files filled so far.
    var feeds: [RunRecord.Feed] {
        zip(files, imported).map { RunRecord.Feed(name: $0.feed, ids: $1.ids) }
    }
}
