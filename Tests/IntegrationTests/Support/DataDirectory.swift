import FeedJournal
import FeedProto
import FeedSQLite
import FeedTestSupport
import Foundation
import Testing

/// A data directory that a durable service has written, to spoil.
struct DataDirectory {
    private let directory: TemporaryDirectory
    var path: String { directory.path }

    /// A title that is found in the bytes of `state.db`.
    static let title = "a title that is easily found"

    /// The votes of the post that has the title.
    static let voteCount = 40

    let post: PostID

    /// Starts a service, lets it write, and ends it: orderly, so that `state.db` has everything,
    /// or at once.
    ///
    /// So many hundred posts are imported before the one that has the title.
    static func written(
        killed: Bool = true,
        afterHundreds hundreds: Int = 0
    ) async throws -> DataDirectory {
        let directory = try TemporaryDirectory()
        let service = try await DurableService.start(directory.path)
        try await service.importHundreds(hundreds)
        let post = try await service.createPost(title, votes: voteCount)
        let written = DataDirectory(directory: directory, post: post)
        if killed {
            await service.kill()
        } else {
            #expect(await service.stop() == 0)
            // What SQLite has written ahead goes where the tests look for it.
            _ = try Database(path: written.path + "/state.db", mode: .existing)
        }
        return written
    }

    /// Expects that a service starts on it and has what was written.
    func expectServed(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let service = try await DurableService.start(path)
        #expect(
            try await service.upvotes(post) == UInt64(Self.voteCount),
            sourceLocation: sourceLocation
        )
        #expect(await service.stop() == 0, sourceLocation: sourceLocation)
    }

    /// The newest segment of the journal, relative to the directory.
    func newestSegment() throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: path + "/journal")
        let newest = names.filter { $0.hasSuffix(".log") && $0 != "spare.log" }.max()
        return "journal/" + (try #require(newest))
    }

    func change(_ name: String, _ body: (inout [UInt8]) throws -> Void) throws {
        let file = URL(filePath: path + "/" + name)
        var bytes = [UInt8](try Data(contentsOf: file))
        try body(&bytes)
        try Data(bytes).write(to: file)
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: path + "/" + name)
    }

    /// Flips a bit of the post's title in `state.db`.
    func flipBitOfARow() throws {
        try change("state.db") { bytes in
            let title = try #require(Data(bytes).range(of: Data(Self.title.utf8)))
            bytes[title.lowerBound + 3] ^= 1
        }
    }

    /// Flips a bit in the header of each page of `state.db` but the first.
    func flipBitsOfPages() throws {
        try change("state.db") { bytes in
            for page in stride(from: 4096, to: bytes.count, by: 4096) { bytes[page] ^= 0x40 }
        }
    }

    /// Gives the first leaf of a table a wrong count of free bytes, which no row shows.
    func miscountFreeBytes() throws {
        try change("state.db") { bytes in
            let pages = stride(from: 4096, to: bytes.count, by: 4096)
            bytes[try #require(pages.first { bytes[$0] == 13 }) + 7] ^= 4
        }
    }

    /// Gives the newest segment a later format, under a header that is whole.
    func raiseFormatOfSegment() throws {
        try change(newestSegment()) { bytes in
            bytes[8] = 99
            let sum = RecordHash.xxh3.digest(bytes.span.extracting(first: 56), 0)
            for index in 0..<8 { bytes[56 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
        }
    }

    /// Gives `state.db` a later format.
    func raiseFormatOfState() throws {
        let database = try Database(path: path + "/state.db", mode: .existing)
        try database.execute("UPDATE meta SET format = 99")
    }
}
