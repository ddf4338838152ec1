import FeedJournal
import FeedTestSupport
import Foundation
import Glibc
import Testing

/// The journal on the system's own files.
@Suite struct POSIXFilesTests {
    @Test func whatIsAppendedIsThereAfterAReopening() throws {
        let directory = try TemporaryDirectory()
        var generator = SeededGenerator(seed: 9)
        let records = (1...60).map { WrittenRecord.random($0, &generator) }
        try {
            let journal = try SegmentJournal(POSIXFiles(path: directory.path), .small())
            for record in records { try journal.append(record) }
        }()
        let journal = try SegmentJournal(POSIXFiles(path: directory.path), .small())
        #expect(try journal.records() == records)
        #expect(try journal.checkSpace() == .writable)
        try journal.forget(through: 60)
        #expect(try POSIXFilesTests.segments(directory).count == 1)
    }

    @Test func aSecondOneOnTheSameDirectoryIsRefused() throws {
        let directory = try TemporaryDirectory()
        let first = try POSIXFiles(path: directory.path)
        #expect(throws: StorageError.locked(path: directory.path, holder: Int(getpid()))) {
            try POSIXFiles(path: directory.path)
        }
        withExtendedLifetime(first) {}
    }

    @Test func theLockGoesWithItsHolder() throws {
        let directory = try TemporaryDirectory()
        _ = try POSIXFiles(path: directory.path)
        _ = try POSIXFiles(path: directory.path)
    }

    @Test("the lock goes with its holder, although a process that is being started has a copy")
    func theLockGoesDespiteACopyOfIt() throws {
        let directory = try TemporaryDirectory()
        var first: POSIXFiles? = try POSIXFiles(path: directory.path)
        let path = directory.path + "/lock"
        let links = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        let lock = try #require(
            links.compactMap(Int32.init).first { descriptor in
                let link = "/proc/self/fd/\(descriptor)"
                return (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) == path
            }
        )
        let copy = dup(lock)
        defer { close(copy) }
        #expect(throws: StorageError.self) { try POSIXFiles(path: directory.path) }
        withExtendedLifetime(first) {}
        first = nil
        _ = try POSIXFiles(path: directory.path)
    }

    @Test("a lock whose file was removed holds, for those who change and for those who look")
    func theLockHoldsWithoutItsFile() throws {
        let directory = try TemporaryDirectory()
        var first: POSIXFiles? = try POSIXFiles(path: directory.path)
        try FileManager.default.removeItem(atPath: directory.path + "/lock")
        #expect(throws: StorageError.self) { try POSIXFiles(path: directory.path, for: .look) }
        #expect(throws: StorageError.self) { try POSIXFiles(path: directory.path) }
        withExtendedLifetime(first) {}
        first = nil
        _ = try POSIXFiles(path: directory.path)
    }

    @Test func aMissingDirectoryIsNamedOrMade() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/none"
        #expect(throws: StorageError.missingDirectory(path: path)) { try POSIXFiles(path: path) }
        _ = try POSIXFiles.creating(path: path)
        _ = try POSIXFiles(path: path)
    }

    @Test func aFileIsNoDirectory() throws {
        let directory = try TemporaryDirectory()
        _ = try POSIXFiles(path: directory.path).create("file")
        let path = directory.path + "/file"
        #expect(throws: StorageError.notADirectory(path: path)) { try POSIXFiles(path: path) }
    }

    @Test(.enabled(if: geteuid() == 0, "Only root can give a directory away."))
    func anotherUsersDirectoryIsRefused() throws {
        let directory = try TemporaryDirectory()
        #expect(directory.give(to: 12345))
        let error = StorageError.wrongOwner(path: directory.path, owner: 12345, user: 0)
        #expect(throws: error) { try POSIXFiles(path: directory.path) }
    }

    @Test(.enabled(if: TemporaryDirectory.canMount, "Mounting needs root."))
    func aReadOnlyFileSystemIsRefused() throws {
        let directory = try TemporaryDirectory(mounting: 1 << 20, isReadOnly: true)
        #expect(throws: StorageError.readOnlyDirectory(path: directory.path)) {
            try POSIXFiles(path: directory.path)
        }
    }

    @Test(.enabled(if: TemporaryDirectory.canMount, "Mounting needs root."))
    func aFullDiskStopsAndARoomierOneContinues() throws {
        let directory = try TemporaryDirectory(mounting: 1 << 20, isReadOnly: false)
        let body = [UInt8](repeating: 3, count: 9000)
        var count: UInt64 = 0
        try {
            let journal = try SegmentJournal(POSIXFiles(path: directory.path), .small())
            #expect(try journal.checkSpace() == .writable)
            while try journal.checkSpace() == .writable {
                count = try journal.append(body.span, count: 1, at: 0).number
            }
            // What was begun is committed out of what is left, and of the ballast.
            do throws(StorageError) {
                while count < 1000 {
                    count = try journal.append(body.span, count: 1, at: 0).number
                }
                Issue.record("A disk of a megabyte took nine.")
            } catch {
                guard case .outOfSpace = error else { throw error }
            }
            #expect(try journal.checkSpace() == .readOnly)
        }()
        let files = try POSIXFiles(path: directory.path)
        try files.remove("journal/spare.log")
        let journal = try SegmentJournal(files, .small())
        #expect(journal.last.number == count)
        try journal.forget(through: count)
        #expect(try journal.checkSpace() == .writable)
        _ = try journal.append(body.span, count: 1, at: 0)
    }

    private static func segments(_ directory: TemporaryDirectory) throws -> [String] {
        // The journal has the lock, which is on the directory above.
        try POSIXFiles(path: directory.path + "/journal").names(in: ".")
            .filter { $0.hasPrefix("0") }
    }
}
