import FeedCtl
import FeedProto
import Testing

/// What `stats` says of a service with a journal, and of one without.
struct StatsReportTests {
    static func stats(
        _ journal: JournalStats?,
        _ backups: BackupStats? = nil
    ) -> StatsReport {
        StatsReport(
            ServerStats(
                serverName: "feed-service",
                startTimeMilliseconds: ReportTests.now,
                connectionCount: 1,
                postCount: 2,
                revision: 3,
                methods: [],
                stripeContentionCount: 0,
                acceptedConnectionCount: 4,
                refusedConnectionCount: 0,
                slowFrameCount: 0,
                badFrameCount: 0,
                bufferedByteCount: 0,
                acceptPauseCount: 0,
                durability: journal == nil ? "none" : "fsync",
                journal: journal,
                channelCount: 5,
                evictedChannelCount: 6,
                repeatedCallCount: 7,
                channelByteCount: 1280,
                refusedChannelCount: 8,
                refusedDeviceCount: 9,
                backups: backups
            )
        )
    }

    static let journal = JournalStats(
        executedPosition: 12,
        durablePosition: 11,
        checkpointedPosition: 10,
        commitCount: 4,
        effectCount: 10,
        medianCommitMicroseconds: 800,
        p99CommitMicroseconds: 1500,
        maximumCommitMicroseconds: 9000,
        byteCount: 65_536,
        heldAnswerCount: 3,
        oldestHeldMicroseconds: 450,
        freeByteCount: 1 << 30,
        isReadOnly: true,
        checkpoints: CheckpointStats(
            backlogByteCount: 700,
            backlogLimitByteCount: 1000,
            refusedCount: 42,
            underWayMicroseconds: 123,
            longestStepMicroseconds: 456
        )
    )

    @Test func aJournalIsSeveralLines() {
        let text = ReportTests.text(Self.stats(Self.journal))
        for line in [
            "durability        fsync",
            "channels          5 (6 forgotten, 8 refused)",
            "channel bytes     1280",
            "refused devices   9",
            "repeated calls    7",
            "journal           record 12 (11 durable, 10 checkpointed)",
            "commits           4 of 2.5 changes each",
            "commit time       p50 800 µs, p99 1500 µs, at most 9000 µs",
            "journal bytes     65536",
            "held answers      3, the oldest for 450 µs",
            "free bytes        1073741824",
            "read only         yes: changes are refused for want of room",
            "unfolded bytes    700 of at most 1000, 42 changes refused for it",
            "checkpoint        under way for 123 µs, longest slice 456 µs",
        ] {
            #expect(text.split(separator: "\n").contains { $0 == line }, "\(line)\n\(text)")
        }
    }

    @Test func aCheckpointWithoutRoomIsSaidToBeStalled() {
        var journal = Self.journal
        journal.checkpoints.isStalled = true
        let text = ReportTests.text(Self.stats(journal))
        #expect(text.contains("checkpoint        stalled: no room for state.db, longest"))
    }

    @Test func reportsNothingOfAMissingJournal() {
        let text = ReportTests.text(Self.stats(nil))
        #expect(text.contains("durability        none\n"))
        #expect(!text.contains("journal"))
    }

    @Test func programsFindTheSameMembersEverywhere() throws {
        let full = try ReportTests.object(Self.stats(Self.journal))
        let empty = try ReportTests.object(Self.stats(nil))
        #expect(full.keys.sorted() == empty.keys.sorted())
        let members = try #require(full["journal"] as? [String: Any])
        let zeros = try #require(empty["journal"] as? [String: Any])
        #expect(members.keys.sorted() == zeros.keys.sorted())
        #expect(members["commit_p99_us"] as? Int == 1500)
        #expect(members["is_read_only"] as? Bool == true)
        #expect(zeros.values.allSatisfy { ($0 as? Int) == 0 })
    }
}
