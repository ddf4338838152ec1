package import FeedClient
package import FeedDataset
package import FeedProto
internal import Foundation

/// The outcome of the posts of one batch.
package struct ImportedBatch: Sendable {
    /// The lines of the file on which the imported posts begin.
    package fileprivate(set) var lines: [Int] = []
    /// The ids of the imported posts, in the order of `lines`.
    package fileprivate(set) var ids: [PostID] = []
    /// The posts that were not imported, and why.
    package fileprivate(set) var leftOut: [LeftOutPost] = []
    /// The lines on which the first and the last row of the batch begin.
    package let rows: ClosedRange<Int>
    /// How many batches are before it in the file.
    package let number: Int
}

/// Imports rows of files into feeds, several batches at a time.
package struct PostImport: Sendable {
    private let client: FeedClient
    private let feed: String
    private let votes: ImportBatch.Votes

    /// An import into a feed, with the votes of the rows or without them.
    package init(over client: FeedClient, into feed: String, votes: ImportBatch.Votes) {
        self.client = client
        self.feed = feed
        self.votes = votes
    }

    /// Imports all rows.
    ///
    /// - Parameters:
    ///   - rows: The next row; nil after the last one.
    ///   - take: Takes the outcome of each batch, in the order of the rows. After a failure it
    ///     takes the outcomes of the batches that were still in flight.
    /// - Throws: What `rows` throws, or the ``FeedClientError`` of a batch.
    package func run(
        rows: () throws -> DatasetRow?,
        take: (ImportedBatch) -> Void
    ) async throws {
        var pending: DatasetRow?
        var count = 0
        try await FeedClient.pipeline(
            depth: ImportBatch.maximumInFlightCount,
            next: { () throws -> (batch: ImportBatch, number: Int)? in
                var batch = ImportBatch(votes: votes)
                while let row = try pending.take() ?? rows() {
                    guard batch.hasRoom(for: row) else {
                        pending = row
                        break
                    }
                    batch.append(row)
                }
                guard !batch.isEmpty else { return nil }
                defer { count += 1 }
                return (batch, count)
            },
            call: { try await send($0.batch, number: $0.number) },
            take: take
        )
    }

    /// Imports a batch without the posts that the service refuses.
    ///
    /// A frame is imported as a whole or not at all, and a refusal names the first post at fault.
    /// So the frame is sent again without that post until the rest is accepted. A frame that is too
    /// large is sent again without its longest post.
    private func send(_ batch: ImportBatch, number: Int) async throws -> ImportedBatch {
        var batch = batch
        var imported = ImportedBatch(leftOut: batch.leftOut, rows: batch.rows, number: number)
        while !batch.posts.isEmpty {
            do {
                imported.ids = try await client.importPosts(batch.posts, in: feed)
                imported.lines = batch.lines
                return imported
            } catch {
                guard let post = batch.remove(for: error) else { throw error }
                imported.leftOut.append(post)
            }
        }
        return imported
    }
}

extension ImportBatch {
    /// Removes the post that an import failed for; nil where none is at fault.
    fileprivate mutating func remove(for error: FeedClientError) -> LeftOutPost? {
        switch error {
        case .refused(let status) where status.isNotExecuted: remove(status)?.post
        case .requestTooLarge(_, let limit): removeLongest(limitByteCount: limit)?.post
        default: nil
        }
    }
}

/// Reads a file of posts row by row; the file need not fit into memory.
package struct RowReader {
    /// Which columns of the file are read.
    package let columns: ColumnUse
    private let file: FileHandle
    private let firstLine: Int
    private var reader: DatasetReader
    private var isAtEnd = false

    /// Opens a file, of which the rows that begin before a line are not read.
    ///
    /// Throws as ``next()`` does.
    package init(
        path: String,
        format: DatasetFormat = DatasetFormat(),
        fromLine firstLine: Int = 1
    ) throws {
        file = try FileHandle(forReadingFrom: URL(filePath: path))
        self.firstLine = firstLine
        reader = DatasetReader(format: format)
        while true {
            if let columns = try reader.columnUse() {
                self.columns = columns
                return
            }
            isAtEnd = try Self.readPiece(of: file, into: &reader)
        }
    }

    /// The next row; nil after the last one.
    ///
    /// Throws `DatasetError` where the file is no file of posts, and the system's error where it
    /// cannot be read.
    package mutating func next() throws -> DatasetRow? {
        while true {
            while let row = try reader.next() {
                if row.line >= firstLine { return row }
            }
            if isAtEnd { return nil }
            isAtEnd = try Self.readPiece(of: file, into: &reader)
        }
    }

    /// Large enough that reading costs nothing beside parsing.
    private static let pieceByteCount = 1 << 20

    /// Gives a reader the next bytes of a file; whether there are none, and the file is at its end.
    private static func readPiece(
        of file: FileHandle,
        into reader: inout DatasetReader
    ) throws -> Bool {
        if let piece = try file.read(upToCount: pieceByteCount), !piece.isEmpty {
            reader.append(piece)
            return false
        }
        reader.finish()
        return true
    }
}
