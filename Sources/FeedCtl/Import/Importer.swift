internal import FeedClient
internal import FeedDataset
internal import FeedImport
internal import FeedProto
internal import Foundation

/// Sends the batches of a file, several at a time, and counts the outcomes of their posts.
struct Importer {
    private let client: FeedClient
    private let feed: String
    private let path: String
    private let showProgress: (Int) -> Void
    private var importedCount = 0
    private var leftOut: [LeftOutPost] = []

    /// The outcome of one batch.
    private struct Outcome: Sendable {
        var importedCount = 0
        var leftOut: [LeftOutPost] = []
    }

    /// An import into a feed; `showProgress` gets the number of posts imported so far.
    init(
        _ client: FeedClient,
        into feed: String,
        path: String,
        showProgress: @escaping (Int) -> Void
    ) {
        self.client = client
        self.feed = feed
        self.path = path
        self.showProgress = showProgress
    }

    /// Imports the whole file.
    mutating func run() async throws -> ImportReport {
        var reader = try BatchReader(path: path)
        try await withThrowingTaskGroup(of: Outcome.self) { group in
            do {
                try await send(&reader, by: &group)
            } catch {
                // Batches in flight may still be imported and must be counted.
                while let result = await group.nextResult() {
                    if case .success(let outcome) = result { count(outcome) }
                }
                throw failure(error)
            }
        }
        leftOut.sort { $0.line < $1.line }
        return ImportReport(feed: feed, importedCount: importedCount, leftOut: leftOut)
    }

    private mutating func count(_ outcome: Outcome) {
        importedCount += outcome.importedCount
        leftOut += outcome.leftOut
        showProgress(importedCount)
    }

    /// Why the import ended, with the number of posts imported so far.
    private func failure(_ error: any Error) -> ImportFailure {
        if let error = error as? FeedClientError {
            return .call(error, importedCount: importedCount)
        }
        let reason = (error as? DatasetError)?.description ?? error.systemReason
        return .badFile(path: path, reason: reason, importedCount: importedCount)
    }

    /// Sends all batches of the file, a few of them at a time.
    private mutating func send(
        _ reader: inout BatchReader,
        by group: inout ThrowingTaskGroup<Outcome, any Error>
    ) async throws {
        var inFlight = 0
        while let batch = try reader.next() {
            if inFlight == ImportBatch.maximumInFlightCount, let outcome = try await group.next() {
                count(outcome)
                inFlight -= 1
            }
            group.addTask { [client, feed] in
                try await Self.send(batch, to: feed, over: client)
            }
            inFlight += 1
        }
        while let outcome = try await group.next() { count(outcome) }
    }

    /// Imports a batch without the posts that the service refuses.
    ///
    /// A frame is imported as a whole or not at all, and a refusal names the first post at fault.
    /// So the frame is sent again without that post until the rest is accepted. A frame that is too
    /// large is sent again without its longest post.
    private static func send(
        _ batch: ImportBatch,
        to feed: String,
        over client: FeedClient
    ) async throws -> Outcome {
        var batch = batch
        var outcome = Outcome(leftOut: batch.leftOut)
        while !batch.posts.isEmpty {
            do {
                outcome.importedCount = try await client.importPosts(batch.posts, in: feed).count
                return outcome
            } catch {
                guard let post = batch.remove(for: error) else { throw error }
                outcome.leftOut.append(post)
            }
        }
        return outcome
    }
}

extension ImportBatch {
    /// Removes the post that an import failed for; nil where none is at fault.
    fileprivate mutating func remove(for error: FeedClientError) -> LeftOutPost? {
        switch error {
        case .refused(let status) where status.isNotExecuted:
            remove(status)?.post
        case .requestTooLarge(_, let limit):
            removeLongest(limitByteCount: limit)?.post
        default: nil
        }
    }
}
