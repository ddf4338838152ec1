internal import FeedClient
internal import FeedDataset
internal import FeedImport
internal import Foundation

/// Imports a file with its votes and counts the outcomes of its posts.
struct Importer {
    private let client: FeedClient
    private let feed: String
    private let file: ImportFile
    private let showProgress: (Int) -> Void

    /// An import into a feed; `showProgress` gets the number of posts imported so far.
    init(
        _ client: FeedClient,
        into feed: String,
        _ file: ImportFile,
        showProgress: @escaping (Int) -> Void
    ) {
        self.client = client
        self.feed = feed
        self.file = file
        self.showProgress = showProgress
    }

    /// Imports the rows of an open file, which need not fit into memory.
    func run(_ rows: RowReader) async throws -> ImportReport {
        var rows = rows
        var progress = ImportProgress(fromLine: file.firstLine)
        var leftOut: [LeftOutPost] = []
        do {
            try await PostImport(over: client, into: feed, votes: .imported).run(
                rows: { try rows.next() },
                take: { batch in
                    progress.add(
                        number: batch.number,
                        rows: batch.rows,
                        importedCount: batch.ids.count
                    )
                    leftOut += batch.leftOut
                    showProgress(progress.importedCount)
                }
            )
        } catch {
            throw failure(error, progress)
        }
        leftOut.sort { $0.line < $1.line }
        return ImportReport(
            feed: feed,
            importedCount: progress.importedCount,
            leftOut: leftOut,
            columns: rows.columns
        )
    }

    /// Why the import ended, with what was imported so far.
    private func failure(_ error: any Error, _ progress: ImportProgress) -> ImportFailure {
        if let error = error as? FeedClientError { return .call(error, progress) }
        let reason = (error as? DatasetError)?.description ?? error.systemReason
        return .badFile(path: file.path, reason: reason, progress)
    }
}
