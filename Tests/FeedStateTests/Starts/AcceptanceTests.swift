import FeedDiskFaults
import FeedJournal
import FeedState
import FeedTestSupport
import Testing

/// A loss is accepted whole or not at all, and what it drops is kept.
@Suite struct AcceptanceTests {
    private let disk: FakeDisk
    private let left: UInt64

    /// A state with a flipped bit in the middle of its journal.
    init() throws {
        disk = try WrittenState(seed: 6, turns: 60, checkpoints: false).disk.copy()
        let segments = disk.names.filter { $0.hasPrefix("journal/0") }
        let segment = segments[segments.count / 2]
        // The first record's body.
        disk[segment]?[4096 + 44] ^= 1
        guard case .loss(let loss) = Self.refusal(disk.copy()) else {
            throw StateError.missingFile(path: segment)
        }
        left = loss.left
    }

    private static func refusal(
        _ disk: FakeDisk,
        acceptedLoss: UInt64? = nil
    ) -> StateStartError? {
        do throws(StateStartError) {
            try MissingFileTests.start(disk, acceptedLoss: acceptedLoss)
            return nil
        } catch {
            return error
        }
    }

    @Test func whatIsDroppedIsKept() throws {
        let segments = disk.names.filter { $0.hasPrefix("journal/0") }
        let contents = segments.compactMap { disk[$0] }
        #expect(Self.refusal(disk, acceptedLoss: left) == nil)
        let kept = disk.names.filter { $0.hasPrefix("quarantine/") }
        #expect(!kept.isEmpty)
        // Each segment is in the journal or in quarantine, up to the zeros at its end.
        for (name, content) in zip(segments, contents) {
            let digits = name.dropFirst("journal/".count).dropLast(".log".count)
            let copies = kept.filter { $0.contains(digits) }.compactMap { disk[$0] }
            #expect(
                disk[name] != nil && copies.isEmpty
                    || copies.contains { content.starts(with: $0) && $0.count > 4096 },
                "\(name)"
            )
        }
        #expect(Self.refusal(disk) == nil)
    }

    @Test func aDryRunNamesWhatIsDroppedAndChangesNothing() throws {
        let before = disk.names.map { disk[$0] }
        var options = StateOptions(path: ".", logCount: 1)
        options.acceptedLoss = left
        let found = try StateVerification.run(
            StateDirectory(options, disk, vfs: disk.databaseDiskName)
        )
        #expect(found.lastRecord == left)
        #expect(found.droppedParts.contains { $0.file.hasPrefix("journal/0") })
        #expect(disk.names.map { disk[$0] } == before)
    }

    @Test("a checkpoint that was under way is told before its loss is accepted")
    func whatACheckpointHadBegunIsTold() throws {
        for seed in 1...99 as ClosedRange<UInt64> {
            let state = try WrittenState(seed: seed, turns: 60)
            let disk = state.disk.copy()
            let meta = try StateDatabase.look(
                directory: ".",
                files: disk,
                vfs: disk.databaseDiskName
            ).meta
            guard meta.isCheckpointing else { continue }
            // The hash of the first record that is not checkpointed.
            let checkpointedCount = state.records(upTo: meta.checkpointed.number).count
            let (name, range) = state.records(upTo: meta.checkpointing.number)[checkpointedCount]
            disk[name]?[range.lowerBound + 32] ^= 1
            guard case .loss(let loss) = Self.refusal(disk.copy()) else {
                Issue.record("the directory was served")
                return
            }
            #expect(loss.partlyCheckpointed == meta.checkpointing.number)
            var options = StateOptions(path: ".", logCount: 1)
            options.acceptedLoss = loss.left
            let directory = StateDirectory(options, disk, vfs: disk.databaseDiskName)
            #expect(
                try StateVerification.run(directory).partlyCheckpointed
                    == meta.checkpointing.number
            )
            return
        }
        Issue.record("no state has a checkpoint under way")
    }

    @Test func anotherNumberIsRefusedWithTheRightOne() {
        let refusal = Self.refusal(disk, acceptedLoss: 99999)
        guard case .journal(.otherLossAccepted(_, let last)) = refusal else {
            Issue.record("the loss was accepted")
            return
        }
        #expect(last == left)
    }

    @Test func theLastRecordOfTheFilesIsRefusedWhereTheStateHasMore() throws {
        let whole = try WrittenState(seed: 6, turns: 60)
        let meta = try StateDatabase.look(
            directory: ".",
            files: whole.disk,
            vfs: whole.disk.databaseDiskName
        ).meta
        let checkpointed = meta.checkpointed.number
        // The files end before the checkpointed record.
        let (segment, range) = try #require(whole.records(upTo: checkpointed).last)
        let disk = whole.disk.copy()
        disk[segment]?.removeSubrange(range.lowerBound...)
        disk[segment]? += [UInt8](repeating: 0, count: (16 << 10) - range.lowerBound)
        for name in disk.names where name.hasPrefix("journal/0") && name > segment {
            disk[name] = nil
        }
        let refusal = Self.refusal(disk, acceptedLoss: checkpointed - 1)
        guard case .journal(.otherLossAccepted(_, let last)) = refusal else {
            Issue.record("the loss was accepted")
            return
        }
        #expect(last == checkpointed)
        #expect(Self.refusal(disk, acceptedLoss: last) == nil)
    }

    @Test func interruptedAnywhereItIsNamedAndFinishedByRepeatingIt() throws {
        var interrupted = 0
        var isDone = false
        for calls in 0..<400 where !isDone {
            var generator = SeededGenerator(seed: UInt64(calls))
            let attempt = disk.copy()
            attempt.callsUntilPowerCut = calls
            isDone = Self.refusal(attempt, acceptedLoss: left) == nil
            let found = attempt.afterPowerCut(&generator)
            switch Self.refusal(found.copy()) {
            case nil: break
            case .loss(let loss): #expect(loss.left == left, "after \(calls) calls")
            case .interruptedAcceptance(let after):
                #expect(after == left, "after \(calls) calls")
                interrupted += 1
            case let other?: Issue.record("after \(calls) calls: \(other)")
            }
            #expect(Self.refusal(found, acceptedLoss: left) == nil, "after \(calls) calls")
            #expect(Self.refusal(found) == nil, "after \(calls) calls")
        }
        #expect(isDone)
        #expect(interrupted > 0)
    }

    @Test func aNewInstanceKeepsTheStateAndMayBeInterrupted() throws {
        let whole = try WrittenState(seed: 7, turns: 60).disk.copy()
        let hash = try StateVerification.run(Self.directory(whole)).stateHash
        var isDone = false
        for calls in 0..<400 where !isDone {
            var generator = SeededGenerator(seed: UInt64(calls))
            let attempt = whole.copy()
            attempt.callsUntilPowerCut = calls
            isDone = (try? InstanceChange.run(Self.directory(attempt))) != nil
            let found = attempt.afterPowerCut(&generator)
            #expect(Self.refusal(found) == nil, "after \(calls) calls")
            let verified = try StateVerification.run(Self.directory(found))
            #expect(verified.stateHash == hash, "after \(calls) calls")
        }
        #expect(isDone)
    }

    private static func directory(_ disk: FakeDisk) -> StateDirectory {
        var options = StateOptions(path: ".", logCount: 1)
        options.journal.segmentByteCount = 16 << 10
        options.journal.space.ballastByteCount = 0
        return StateDirectory(options, disk, vfs: disk.databaseDiskName)
    }
}
