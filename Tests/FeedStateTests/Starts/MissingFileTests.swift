import FeedDiskFaults
import FeedJournal
import FeedRanking
import FeedSQLite
import FeedState
import FeedTestSupport
import Testing

/// A directory that has served has all its files, or is refused.
@Suite struct MissingFileTests {
    private let state: WrittenState

    init() throws {
        state = try WrittenState(seed: 5, turns: 40, checkpoints: false)
    }

    /// What a start says of the files; nil where it serves them.
    private func refusal(_ disk: FakeDisk, acceptedLoss: UInt64? = nil) -> StateStartError? {
        do throws(StateStartError) {
            try Self.start(disk, acceptedLoss: acceptedLoss)
            return nil
        } catch {
            return error
        }
    }

    /// Starts, and lets the process die.
    static func start(_ disk: FakeDisk, acceptedLoss: UInt64? = nil) throws(StateStartError) {
        var options = StateOptions(path: ".", logCount: 2)
        options.journal.segmentByteCount = 16 << 10
        options.journal.space.ballastByteCount = 0
        options.acceptedLoss = acceptedLoss
        let life = try RecoveredState(
            StateDirectory(options, disk, vfs: disk.databaseDiskName),
            into: FeedStore(stripeCount: 2) { 1 },
            channels: { _ in }
        )
        let database = life.checkpointWork.database
        disk.die()
        withExtendedLifetime(database) {}
        disk.revive()
    }

    private func names(_ disk: FakeDisk, _ prefix: String) -> [String] {
        disk.names.filter { $0.hasPrefix(prefix) }
    }

    @Test func theWatermarkIsMissed() throws {
        let disk = state.disk.copy()
        disk["durable.hwm"] = nil
        guard case .loss(let loss) = refusal(disk), case .missingWatermark(let last) = loss.problem
        else {
            Issue.record("the directory was served")
            return
        }
        #expect(loss.left == last)
        #expect(refusal(disk, acceptedLoss: last) == nil)
        // From then on it is there again.
        #expect(refusal(disk) == nil)
    }

    @Test func aSpoiledWatermarkIsMissed() throws {
        let disk = state.disk.copy()
        disk["durable.hwm"] = []
        guard case .loss(let loss) = refusal(disk), case .missingWatermark = loss.problem else {
            Issue.record("the directory was served")
            return
        }
    }

    @Test func theWatermarkAndTheNewestSegmentAreMissed() throws {
        let disk = state.disk.copy()
        disk["durable.hwm"] = nil
        disk[try #require(names(disk, "journal/0").last)] = nil
        guard case .loss = refusal(disk) else {
            Issue.record("the directory was served")
            return
        }
    }

    @Test func aStateAloneIsRefused() throws {
        let disk = state.disk.copy()
        for name in disk.names where !name.hasPrefix("state.db") { disk[name] = nil }
        guard case .loss(let loss) = refusal(disk) else {
            Issue.record("the directory was served")
            return
        }
        #expect(loss.left == 0)
        #expect(loss.known > 0)
    }

    @Test func aDirectoryWithoutItsStateIsRefused() throws {
        for kept in ["durable.hwm", "journal/0", "state.db-wal"] {
            let disk = state.disk.copy()
            for name in disk.names where !name.hasPrefix(kept) { disk[name] = nil }
            guard case .missingDatabase = refusal(disk) else {
                Issue.record("the directory was served: \(disk.names)")
                return
            }
        }
    }

    @Test func aDirectoryOfOtherFilesIsRefused() {
        let disk = FakeDisk()
        disk["lost+found/x"] = [1]
        disk[".hidden"] = [1]
        #expect(refusal(disk.copy()) == nil)
        disk["report.odt"] = [1]
        guard case .foreignFile("report.odt") = refusal(disk) else {
            Issue.record("the directory was served")
            return
        }
        #expect(disk.names == [".hidden", "lost+found/x", "report.odt"])
    }

    @Test func aDirectoryOfVersion01IsServedAndThenNoted() throws {
        let disk = state.disk.copy()
        try dropRecord(disk)
        #expect(refusal(disk) == nil)
        disk["durable.hwm"] = nil
        guard case .loss = refusal(disk) else {
            Issue.record("the directory was served")
            return
        }
    }

    /// Makes `state.db` what version 0.1 made: without the table of the other files.
    private func dropRecord(_ disk: FakeDisk) throws {
        let database = try StateDatabase(directory: ".", files: disk, vfs: disk.databaseDiskName)
        try database.connection.execute("DROP TABLE directory")
        try database.connection.checkpointLog()
    }
}
