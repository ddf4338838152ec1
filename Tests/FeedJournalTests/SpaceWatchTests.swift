import FeedDiskFaults
import FeedJournal
import Testing

/// When new work is taken, by what is free.
@Suite struct SpaceWatchTests {
    private static let mebibyte = 1 << 20

    private func journal(_ files: FakeDisk) throws -> SegmentJournal {
        var configuration = JournalConfiguration.small()
        configuration.space = SpaceLimits()
        return try SegmentJournal(files, configuration)
    }

    /// A disk with so many mebibytes left to it, beside what is on it.
    private func leave(_ mebibytes: Int, on files: FakeDisk) {
        let used = files.names.reduce(0) { $0 + (files[$1]?.count ?? 0) }
        files.capacity = used + mebibytes * Self.mebibyte
    }

    @Test func isReadOnlyUnder256AndWritableAgainAt512() throws {
        let files = FakeDisk()
        let journal = try journal(files)
        var modes: [SpaceWatch.Mode] = []
        for mebibytes in [600, 256, 255, 300, 511, 512, 300] {
            leave(mebibytes, on: files)
            modes.append(try journal.checkSpace())
        }
        #expect(
            modes == [.writable, .writable, .readOnly, .readOnly, .readOnly, .writable, .writable]
        )
    }

    @Test func startsWritableWhereTheBallastLeavesEnough() throws {
        for (mebibytes, mode) in [(319, SpaceWatch.Mode.readOnly), (321, .writable)] {
            let files = FakeDisk()
            leave(mebibytes, on: files)
            #expect(try journal(files).checkSpace() == mode)
        }
    }

    @Test func doesNotComeBackWithoutItsBallast() throws {
        let files = FakeDisk()
        let journal = try journal(files)
        leave(0, on: files)
        files.failure = { call, name in
            call == .write && name.contains("journal/0") && files["ballast"] != nil ? 28 : nil
        }
        _ = try journal.append([1].span, count: 1, at: 1)
        #expect(files["ballast"] == nil)
        leave(511, on: files)
        #expect(try journal.checkSpace() == .readOnly)
        files.failure = { call, name in call == .allocate && name == "ballast" ? 28 : nil }
        leave(600, on: files)
        #expect(try journal.checkSpace() == .readOnly)
        files.failure = { _, _ in nil }
        #expect(try journal.checkSpace() == .writable)
        #expect(files["ballast"]?.count == 64 * Self.mebibyte)
    }
}
