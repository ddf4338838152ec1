import FeedDiskFaults
import FeedJournal
import FeedRanking
import FeedState
import FeedTestSupport
import Glibc
import Testing

/// A start after the process was killed on a disk without a free byte.
@Suite struct FullDiskStartTests {
    /// A disk that is full, whose `state.db` has a log that has to go into the file.
    private func fullDisk() throws -> FakeDisk {
        for seed in 1...20 as ClosedRange<UInt64> {
            let disk = try WrittenState(seed: seed, turns: 100).disk.copy()
            guard disk["state.db-wal"]?.isEmpty == false else { continue }
            disk["ballast"] = [UInt8](repeating: 0, count: Self.ballast)
            disk.capacity = disk.names.reduce(0) { $0 + (disk[$1]?.count ?? 0) }
            return disk
        }
        throw StateError.missingFile(path: "state.db-wal")
    }

    private static let ballast = 4 << 20

    /// What the journal may take then; the process dies after it.
    private func start(_ disk: FakeDisk) throws(StateStartError) -> SpaceWatch.Mode? {
        var options = StateOptions(path: ".", logCount: 2)
        options.journal.segmentByteCount = 16 << 10
        options.journal.space.ballastByteCount = Self.ballast
        let life = try RecoveredState(
            StateDirectory(options, disk, vfs: disk.databaseDiskName),
            into: FeedStore(stripeCount: 2) { 1 },
            channels: { _ in }
        )
        let database = life.checkpointWork.database
        let mode = try? life.journal.checkSpace()
        #expect(life.summary.gaveUpBallast == (mode == .readOnly))
        disk.die()
        withExtendedLifetime(database) {}
        disk.revive()
        return mode
    }

    @Test func givesUpTheBallastAndIsReadOnly() throws {
        let disk = try fullDisk()
        // Each write that grows a file needs room, that of state.db too.
        disk.failure = { [unowned disk] call, name in
            disk["ballast"] != nil && call == .write && name == "state.db" ? ENOSPC : nil
        }
        #expect(try start(disk) == .readOnly)
        #expect(disk["ballast"] == nil)
        disk.failure = { _, _ in nil }
        disk.capacity = .max
        #expect(try start(disk) == .writable)
    }

    @Test func verificationWritesNothing() throws {
        let disk = try fullDisk()
        let before = disk.names.map { disk[$0] }
        disk.failure = { call, _ in
            let changing: [FakeDisk.Call] = [
                .create, .rename, .remove, .allocate, .write, .truncate, .sync, .syncDirectory,
            ]
            return changing.contains(call) ? EROFS : nil
        }
        let options = StateOptions(path: ".", logCount: 1)
        _ = try StateVerification.run(StateDirectory(options, disk, vfs: disk.databaseDiskName))
        #expect(disk.names.map { disk[$0] } == before)
    }

    @Test func withoutRoomItSaysHowMuchToFree() throws {
        let disk = try fullDisk()
        disk["ballast"] = nil
        disk.capacity = disk.names.reduce(0) { $0 + (disk[$1]?.count ?? 0) }
        disk.failure = { call, name in call == .write && name == "state.db" ? ENOSPC : nil }
        do throws(StateStartError) {
            _ = try start(disk)
            Issue.record("the directory was served")
        } catch {
            guard case .full(let needed, _) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(needed >= 16 << 10)
        }
    }

    @Test func aNewInstanceWithoutRoomSaysHowMuchToFreeToo() throws {
        let whole = try WrittenState(seed: 7, turns: 60).disk.copy()
        var options = StateOptions(path: ".", logCount: 1)
        options.journal.segmentByteCount = 16 << 10
        options.journal.space.ballastByteCount = 0
        var isDone = false
        // The disk is full at each write of the change, one after the other.
        for allowed in 0..<200 where !isDone {
            let disk = whole.copy()
            var count = 0
            disk.failure = { call, name in
                guard call == .write, name.hasPrefix("state.db") else { return nil }
                count += 1
                return count > allowed ? ENOSPC : nil
            }
            let directory = StateDirectory(options, disk, vfs: disk.databaseDiskName)
            do throws(StateStartError) {
                _ = try InstanceChange.run(directory)
                isDone = true
            } catch {
                guard case .full = error else {
                    Issue.record("after \(allowed) writes: \(error)")
                    return
                }
                disk.failure = { _, _ in nil }
                #expect(throws: Never.self) { try InstanceChange.run(directory) }
            }
        }
        #expect(isDone)
    }
}
