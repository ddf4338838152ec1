internal import FeedClient
internal import FeedDataset
internal import FeedProto
internal import Foundation

/// Sends the batches of a file, several at a time, and counts what became of their posts.
struct Importer {
    /// Frames in flight: enough that neither side waits for the other.
    private static let maximumInFlightCount = 4

    private let client: FeedClient
    private let feed: String
    private let path: String
    private let showProgress: (Int) -> Void
    private var importedCount = 0
    private var leftOut: [LeftOutPost] = []

    /// What became of one batch.
    private struct Outcome: Sendable {
        var importedCount = 0
        var leftOut: [LeftOutPost] = []
    }

    /// An import into a feed; `showProgress` is told how many posts are in it.
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
            var inFlight = 0
            while let batch = try next(&reader) {
                if inFlight == Self.maximumInFlightCount, let outcome = try await next(&group) {
                    count(outcome)
                    inFlight -= 1
                }
                group.addTask { [client, feed] in
                    try await Self.send(batch, to: feed, over: client)
                }
                inFlight += 1
            }
            while let outcome = try await next(&group) { count(outcome) }
        }
        leftOut.sort { $0.line < $1.line }
        return ImportReport(feed: feed, importedCount: importedCount, leftOut: leftOut)
    }

    private mutating func count(_ outcome: Outcome) {
        importedCount += outcome.importedCount
        leftOut += outcome.leftOut
        showProgress(importedCount)
    }

    private func next(_ reader: inout BatchReader) throws -> PostBatch? {
        do {
            return try reader.next()
        } catch {
            let reason = (error as? DatasetError)?.description ?? error.systemReason
            throw ImportFailure.badFile(path: path, reason: reason, importedCount: importedCount)
        }
    }

    private func next(
        _ group: inout ThrowingTaskGroup<Outcome, any Error>
    ) async throws -> Outcome? {
        do {
            return try await group.next()
        } catch let error as FeedClientError {
            throw ImportFailure.call(error, importedCount: importedCount)
        }
    }

    /// Imports a batch without the posts that the service does not take.
    ///
    /// A frame is imported as a whole or not at all, and a refusal names the first post at fault; so
    /// it is sent again without that post, until the rest is taken. So is one that is too large.
    private static func send(
        _ batch: PostBatch,
        to feed: String,
        over client: FeedClient
    ) async throws -> Outcome {
        var batch = batch
        var outcome = Outcome()
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

extension PostBatch {
    /// Takes out the post that an import failed for; nil where none is at fault.
    fileprivate mutating func remove(for error: FeedClientError) -> LeftOutPost? {
        switch error {
        case .refused(let status) where status.isNotExecuted:
            status.violations.first.flatMap { remove($0) }
        case .requestTooLarge(_, let limit):
            removeLongest(limitByteCount: limit)
        default: nil
        }
    }
}
