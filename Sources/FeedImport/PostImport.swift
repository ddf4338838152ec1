package import FeedClient
package import FeedDataset
import FeedProto

/// The outcome of the posts of one batch.
package struct ImportedBatch: Sendable {
    /// The lines of the file on which the imported posts begin.
    package fileprivate(set) var lines: [Int] = []
    /// The ids of the imported posts, in the order of `lines`.
    package fileprivate(set) var ids: [UInt64] = []
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
