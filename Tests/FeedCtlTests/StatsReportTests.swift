import FeedCtl
import FeedProto
import Testing

/// What `stats` says of a service with a journal, and of one without.
struct StatsReportTests {
    static func stats(
        _ journal: JournalStats?,
        _ backups: BackupStats? = nil,
        latencies: [LatencyStats] = [],
        heldTime: LatencyStats? = nil
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
                backups: backups,
                latencies: latencies,
                heldTime: heldTime
            )
        )
    }

    static func latency(_ method: String) -> LatencyStats {
        LatencyStats(
            method: method,
            answerCount: 1_000,
            medianNanoseconds: 900,
            p90Nanoseconds: 12_345,
            p99Nanoseconds: 1_500_000,
            p999Nanoseconds: 250_000_000,
            maximumNanoseconds: 2_500_000_000
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
        let text = ReportTests.text(Self.stats(Self.journal, BackupStats()))
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

    @Test func timesOfAnswersAreATable() {
        let stats = Self.stats(
            Self.journal,
            latencies: [Self.latency("cast_vote")],
            heldTime: Self.latency("")
        )
        let text = ReportTests.text(stats)
        for line in [
            "TIME OF ANSWERS     ANSWERS     P50      P90     P99     P99.9  MAXIMUM",
            "cast_vote              1000  0.9 µs  12.3 µs  1.5 ms  250 ms    2.5 s",
            "held until durable     1000  0.9 µs  12.3 µs  1.5 ms  250 ms    2.5 s",
        ] {
            let lines = text.split(separator: "\n").map {
                $0.split(separator: " ").joined(separator: " ")
            }
            let words = line.split(separator: " ").joined(separator: " ")
            #expect(lines.contains(words), "\(line)\n\(text)")
        }
        #expect(!ReportTests.text(Self.stats(nil)).contains("TIME OF ANSWERS"))
    }

    @Test func programsReadTimesInNanoseconds() throws {
        let report = Self.stats(nil, latencies: [Self.latency("cast_vote")])
        let object = try ReportTests.object(report)
        let latencies = try #require(object["latencies"] as? [[String: Any]])
        #expect(latencies.first?["method"] as? String == "cast_vote")
        #expect(latencies.first?["p999_ns"] as? Int == 250_000_000)
        let held = try #require(object["held_time"] as? [String: Any])
        #expect(held["max_ns"] as? Int == 0)
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
