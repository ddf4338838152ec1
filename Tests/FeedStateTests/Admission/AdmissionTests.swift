import FeedJournal
import FeedLog
import FeedRanking
import FeedState
import Testing

@Suite struct CheckpointAdmissionTests {
    private static let limit = 320 << 20

    /// An admission and a clock that only the test moves.
    private struct Harness {
        var admission = CheckpointAdmission()
        var now = ContinuousClock.now
        var pending = 0
        var written: UInt64 = 0

        /// Lets time pass in which checkpoints write and changes are committed; gives what may wait.
        mutating func pass(
            _ duration: Duration = .zero,
            writing byteCount: Int = 0,
            committing committed: Int = 0
        ) -> Int {
            now += duration
            written += UInt64(byteCount)
            pending += committed - byteCount
            return admission.update(
                CheckpointBacklog(
                    pendingByteCount: pending,
                    limitByteCount: limit,
                    writtenByteCount: written
                ),
                committing: committed,
                at: now
            )
        }
    }

    @Test func belowHalfOfTheLimitNothingIsRestricted() {
        var harness = Harness()
        #expect(harness.pass(committing: Self.limit / 2 - 1) == .max)
        #expect(harness.admission.retryTime == .zero)
    }

    @Test func fromHalfOfTheLimitOnChangesAreSlowed() {
        var harness = Harness()
        let allowed = harness.pass(committing: Self.limit / 2)
        #expect(allowed > 0 && allowed < .max)
    }

    @Test func atTheLimitNothingIsLetInAndClientsAreToldToWait() {
        var harness = Harness()
        #expect(harness.pass(committing: Self.limit) == -1)
        #expect(harness.admission.retryTime == .seconds(1))
        // Not even after a while: there is still no room.
        #expect(harness.pass(.seconds(60)) == -1)
    }

    @Test func onceCheckpointsHaveWrittenEnoughNothingIsRestrictedAnyMore() {
        var harness = Harness()
        #expect(harness.pass(committing: Self.limit) == -1)
        #expect(harness.pass(.seconds(1), writing: Self.limit / 4) > 0)
        #expect(harness.pass(.seconds(1), writing: Self.limit / 2) == .max)
    }

    @Test func whatWasLetInIsTakenOutOfTheBucketAndComesBackWithTime() {
        var harness = Harness()
        let first = harness.pass(committing: Self.limit / 2)
        // More than there was, as with a transaction of a megabyte: the next ones wait longer.
        #expect(harness.pass(committing: first + (16 << 20)) == -1)
        #expect(harness.admission.retryTime > .milliseconds(50))
        #expect(harness.pass(.milliseconds(1)) == -1)
        #expect(harness.pass(.milliseconds(900)) > 0)
    }

    /// The heart of it: clients that send all they may, and a disk of any speed.
    @Test(arguments: [10, 20, 60, 200])
    func aBacklogUnderPressureSettlesBelowTheLimitAtTheSpeedOfCheckpoints(mebibytes: Int) {
        var harness = Harness()
        let step = Duration.milliseconds(20)
        let writtenPerStep = (mebibytes << 20) / 50
        var committed = 0
        var most = 0
        var allowed = harness.pass()
        let seconds = 200
        for number in 0..<seconds * 50 {
            // No journal takes more than 200 MiB a second.
            let taken = max(0, min(allowed, 4 << 20))
            if number >= seconds * 25 { committed += taken }
            allowed = harness.pass(
                step,
                writing: min(writtenPerStep, harness.pending),
                committing: taken
            )
            most = max(most, harness.pending)
        }
        #expect(most < Self.limit)
        let perSecond = Double(committed) / Double(seconds / 2)
        let expected = min(Double(mebibytes << 20), Double(200 << 20))
        #expect(abs(perSecond / expected - 1) < 0.05)
    }

    /// Clients that wait for the answers to what they have sent, and then send as much again.
    ///
    /// A checkpoint writes the 64 MiB that it has taken in at once, at its end.
    @Test(arguments: [20, 40, 60])
    func clientsThatWaitForTheirAnswersAreSlowedAndNeverRefused(mebibytes: Int) {
        var harness = Harness()
        let sent = 100_000
        let checkpointByteCount = 64 << 20
        let checkpointTime = Duration.seconds(64) / mebibytes
        var allowed = harness.pass()
        var (elapsed, lastCheckpoint) = (Duration.zero, Duration.zero)
        let end = Duration.seconds(120)
        while elapsed < end {
            #expect(allowed >= sent)
            guard allowed >= sent else { return }
            let step = max(.milliseconds(1), harness.admission.commitDelay)
            elapsed += step
            var written = 0
            if elapsed - lastCheckpoint >= checkpointTime {
                written = min(harness.pending, checkpointByteCount)
                lastCheckpoint = elapsed
            }
            allowed = harness.pass(step, writing: written, committing: sent)
        }
        #expect(harness.pending > Self.limit / 2)
        #expect(harness.pending < Self.limit)
    }

    @Test func aCommitIsPutOffByTheTimeThatItsBytesTakeAndNotForLong() {
        var harness = Harness()
        #expect(harness.pass(committing: Self.limit / 2 - 1) == .max)
        #expect(harness.admission.commitDelay == .zero)
        _ = harness.pass(committing: 1)
        #expect(harness.admission.commitDelay == .zero)
        // 128 MiB a second are let in at half of the limit.
        _ = harness.pass(committing: 1 << 20)
        let delay = harness.admission.commitDelay
        #expect(delay > .milliseconds(7) && delay < .milliseconds(9))
        _ = harness.pass(committing: 16 << 20)
        #expect(harness.admission.commitDelay == CheckpointAdmission.longestCommitDelay)
        // Once checkpoints have caught up, commits are not put off any more.
        #expect(harness.pass(writing: Self.limit / 4) == .max)
        #expect(harness.admission.commitDelay == .zero)
        _ = harness.pass(committing: Self.limit / 4)
        _ = harness.pass(committing: 16 << 20)
        #expect(harness.admission.commitDelay == CheckpointAdmission.longestCommitDelay)
        // At the limit nothing more is let in, and what was is committed at once.
        _ = harness.pass(committing: Self.limit / 2)
        #expect(harness.admission.commitDelay == .zero)
    }

    @Test func checkpointsThatStandStillLetInLessAndLessAndNeverMoreThanTheLimit() {
        var harness = Harness()
        var allowed = harness.pass()
        for _ in 0..<60 * 200 {
            allowed = harness.pass(.milliseconds(5), committing: max(0, min(allowed, 1 << 18)))
        }
        #expect(harness.pending < Self.limit + (1 << 18))
        #expect(harness.admission.bytesPerSecond < CheckpointAdmission.minimumBytesPerSecond / 4)
        // What is left is the floor, by which a recovery is noticed.
        let before = harness.pending
        for _ in 0..<200 {
            allowed = harness.pass(.milliseconds(5), committing: max(0, min(allowed, 1 << 18)))
        }
        #expect(Double(harness.pending - before) <= 2 * CheckpointAdmission.minimumBytesPerSecond)
    }

    @Test func anIdleServiceIsNotTakenForASlowDisk() {
        var harness = Harness()
        let before = harness.admission.bytesPerSecond
        for _ in 0..<100 { _ = harness.pass(.seconds(1), committing: 1_000) }
        #expect(harness.admission.bytesPerSecond == before)
    }
}

/// The bytes that changes may log before a commit takes them fit into one record, and so into the
/// ballast, however many loops log them.
@Suite struct AdmittedBytesTests {
    /// What an import of the longest frame logs: its texts, and the numbers of 256 posts.
    static let longestImportByteCount = (1 << 20) + 256 * PostContent().maximumLogEntryByteCount

    @Test(
        "every number of loops: waiting bytes, long and short transactions fill no record"
    )
    func fitsARecordForEveryNumberOfLoops() {
        for logCount in 1...256 {
            let options = StateOptions(path: "unused", logCount: logCount)
            let transactions = logCount * (StateOptions.shortTransactionByteCount + 4)
            let most =
                options.maximumWaitingByteCount + options.maximumLongTransactionByteCount
                + transactions
            #expect(most <= options.journal.maximumBodyByteCount, "\(logCount) loops")
            #expect(options.journal.maximumBodyByteCount < options.journal.space.ballastByteCount)
            #expect(options.maximumWaitingByteCount >= 15 << 20, "\(logCount) loops")
            #expect(
                options.maximumLongTransactionByteCount >= 4 * Self.longestImportByteCount,
                "\(logCount) loops"
            )
        }
    }
}

extension AdmittedBytesTests {
    @Test func recordsOfAClusterAreNoLargerThanItsEntries() {
        for logCount in 1...StateOptions.maximumReplicatedLogCount {
            var options = StateOptions(path: "unused", logCount: logCount)
            options.replica = ReplicaOptions(socketPath: "unused", address: "")
            let transactions = logCount * (StateOptions.shortTransactionByteCount + 4)
            let most =
                options.maximumWaitingByteCount + options.maximumLongTransactionByteCount
                + transactions + RecordHead.byteCount
            #expect(most <= StateOptions.maximumReplicatedRecordByteCount, "\(logCount) loops")
            #expect(
                options.maximumLongTransactionByteCount >= Self.longestImportByteCount,
                "\(logCount) loops"
            )
            guard logCount <= 15 else { continue }
            #expect(options.maximumWaitingByteCount == 4 << 20)
            #expect(options.maximumLongTransactionByteCount == 3 << 20)
        }
    }
}

@Suite struct EpisodeTests {
    private let start = ContinuousClock.now

    @Test func isToldOfAtItsBeginningNowAndThenAndAtItsEnd() {
        var episode = Episode()
        #expect(episode.observe(false, at: start) == nil)
        #expect(episode.observe(true, at: start) == .lasts)
        #expect(episode.isUnderWay)
        #expect(episode.observe(true, at: start + .seconds(9)) == nil)
        #expect(episode.observe(true, at: start + .seconds(10)) == .lasts)
        #expect(episode.observe(false, at: start + .seconds(12)) == .ended(after: .seconds(12)))
        #expect(!episode.isUnderWay)
        #expect(episode.observe(false, at: start + .seconds(13)) == nil)
    }

    @Test func oneThatComesAndGoesIsToldOfOnceInTenSeconds() {
        var episode = Episode()
        var reports = 0
        for tick in 0..<1_000 {
            let now = start + .milliseconds(100 * tick)
            if episode.observe(tick.isMultiple(of: 2), at: now) != nil { reports += 1 }
        }
        // In 100 seconds ten beginnings, and the end of each.
        #expect(reports == 20)
    }

    @Test func theEndOfWhatNobodyWasToldOfIsNotToldEither() {
        var episode = Episode()
        #expect(episode.observe(true, at: start) == .lasts)
        #expect(episode.observe(false, at: start + .seconds(1)) == .ended(after: .seconds(1)))
        #expect(episode.observe(true, at: start + .seconds(2)) == nil)
        #expect(episode.observe(false, at: start + .seconds(3)) == nil)
    }
}

@Suite struct JournalAdmissionTests {
    @Test func aDiskOfUsualSpeedLeavesTheLimit() {
        var admission = JournalAdmission(maximumByteCount: 1 << 20)
        admission.observe(byteCount: 10, took: .milliseconds(100))
        #expect(admission.byteCount == 1 << 20)
    }

    @Test func aSlowDiskMayBeOwedWhatItWritesInASecond() {
        var admission = JournalAdmission(maximumByteCount: 24 << 20)
        admission.observe(byteCount: 1 << 20, took: .milliseconds(500))
        #expect(admission.byteCount == 2 << 20)
        admission.observe(byteCount: 1 << 20, took: .seconds(4))
        #expect(admission.byteCount == 1 << 18)
    }

    @Test func somethingMayAlwaysWait() {
        var admission = JournalAdmission(maximumByteCount: 24 << 20)
        admission.observe(byteCount: 1, took: .seconds(60))
        #expect(admission.byteCount == JournalAdmission.minimumByteCount)
    }

    @Test func aDiskThatIsFastAgainIsTrustedStepByStep() {
        var admission = JournalAdmission(maximumByteCount: 1 << 20)
        admission.observe(byteCount: 1, took: .seconds(60))
        var limits: [Int] = []
        for _ in 0..<6 {
            admission.observe(byteCount: 1, took: .milliseconds(1))
            limits.append(admission.byteCount)
        }
        #expect(limits == [1 << 17, 1 << 18, 1 << 19, 1 << 20, 1 << 20, 1 << 20])
    }
}

@Suite struct StepPaceTests {
    private static func settled(at commit: Duration) -> Duration {
        var pace = StepPace()
        for _ in 0..<50 { pace.observe(commit: commit) }
        return pace.workTime
    }

    @Test func aQuickDiskKeepsStepsShort() {
        #expect(Self.settled(at: .milliseconds(1)) == StepPace.minimumTime)
    }

    @Test func aStepWorksSeveralTimesAsLongAsItsCommitTakes() {
        let time = Self.settled(at: .milliseconds(100))
        #expect(time > .milliseconds(295) && time <= .milliseconds(300))
    }

    @Test func aStepEndsHoweverSlowTheDiskIs() {
        #expect(Self.settled(at: .seconds(60)) <= StepPace.maximumTime)
    }

    @Test func oneSlowCommitIsForgotten() {
        var pace = StepPace()
        pace.observe(commit: .seconds(1))
        for _ in 0..<50 { pace.observe(commit: .milliseconds(1)) }
        #expect(pace.workTime < .milliseconds(6))
    }
}
