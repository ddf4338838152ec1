internal import FeedClient
internal import FeedDataset
internal import FeedImport
internal import Foundation

/// Imports a file with its votes and counts the outcomes of its posts.
struct Importer {
    private let client: FeedClient
    private let feed: String
    private let path: String
    private let showProgress: (Int) -> Void

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

    /// Imports the whole file, which need not fit into memory.
    func run() async throws -> ImportReport {
        var rows = try open()
        var importedCount = 0
        var leftOut: [LeftOutPost] = []
        do {
            try await PostImport(over: client, into: feed, votes: .imported).run(
                rows: { try rows.next() },
                take: { batch in
                    importedCount += batch.ids.count
                    leftOut += batch.leftOut
                    showProgress(importedCount)
                }
            )
        } catch {
            throw failure(error, importedCount: importedCount)
        }
        leftOut.sort { $0.line < $1.line }
        return ImportReport(feed: feed, importedCount: importedCount, leftOut: leftOut)
    }

    private func open() throws(ImportFailure) -> RowReader {
        do {
            return try RowReader(path: path)
        } catch {
            throw .unreadable(path: path, reason: error.systemReason)
        }
    }

    /// Why the import ended, with the number of posts imported so far.
    private func failure(_ error: any Error, importedCount: Int) -> ImportFailure {
        if let error = error as? FeedClientError {
            return .call(error, importedCount: importedCount)
        }
        let reason = (error as? DatasetError)?.description ?? error.systemReason
        return .badFile(path: path, reason: reason, importedCount: importedCount)
    }
}
