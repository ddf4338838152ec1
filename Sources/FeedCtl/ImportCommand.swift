internal import ArgumentParser
package import FeedClient
package import FeedDataset
package import FeedImport
internal import FeedProto
internal import FeedText
internal import Foundation

struct ImportCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Imports the posts of a CSV file with their times and counts.",
        discussion: """
            The first line names the columns, which are read by their usual names: title, and where there \
            are author, selftext, url, thumbnail, created_utc, num_comments, ups or score, and downs. \
            Times are Unix seconds, milliseconds or ISO 8601. Posts that the feed does not take, and \
            those with a value that no post may have, are left out and reported.
            """
    )

    @Argument(help: "The file.", completion: .file(extensions: ["csv", "tsv"]))
    var path: String

    @Option(help: "Where; needed unless with --check.")
    var feed: String?

    @Flag(
        help: "Create the feed if there is none of that name; it takes titles of 1,000 characters."
    )
    var createFeed = false

    @Option(
        help: """
            Which columns have what, as title=Title,upvotes=score: fields are title, author, text, url, \
            thumbnail, time, comments, upvotes and downvotes.
            """
    )
    var columns: String?

    @Option(
        help:
            "How times are written: seconds, milliseconds, iso, or a pattern as %m/%d/%Y %H:%M (UTC)."
    )
    var timeFormat: String?

    @Option(help: "Import the posts that begin on this line of the file, or behind it.")
    var fromLine = 1

    @Flag(help: "Read the file, say what an import would find in it, and call no service.")
    var check = false

    @Flag(help: "Show no progress.")
    var quiet = false

    @OptionGroup var options: ServiceOptions

    func validate() throws {
        _ = try file()
        guard check || feed != nil else {
            throw ValidationError("--feed: expected the name of a feed, got none.")
        }
        guard fromLine >= 1 else {
            throw ValidationError("--from-line: expected 1 or more, got \(fromLine).")
        }
    }

    /// A run has an identity of its own: what is sent again after a lost connection is imported once.
    var configuration: ClientConfiguration {
        get throws {
            var configuration = try options.configuration
            configuration.clientID = configuration.clientID ?? ClientID()
            return configuration
        }
    }

    func run() async throws {
        guard check else { return try await callService() }
        try file().check().print(asJSON: options.json)
    }

    func perform(_ client: FeedClient) async throws -> any Report {
        let feed = feed ?? ""
        let rows = try file().open()
        if showsProgress, !rows.columns.description.isEmpty {
            Console.notify(rows.columns.description + "\n")
        }
        if createFeed { try await makeFeed(feed, client) }
        defer { if showsProgress { Console.notify("\r\u{1B}[K") } }
        return try await file().send(rows, to: feed, over: client, showProgress: progress())
    }

    private func file() throws -> ImportFile {
        do {
            let format = try DatasetFormat(columns: columns, time: timeFormat)
            return ImportFile(path: path, format: format, firstLine: fromLine)
        } catch {
            throw ValidationError(error.description)
        }
    }

    private func makeFeed(_ feed: String, _ client: FeedClient) async throws {
        do throws(FeedClientError) {
            try await client.createFeed(Feed(name: feed, maximumTitleLength: 1_000))
        } catch {
            guard case .refused(let status) = error, status.reason == .feedExists else {
                throw error
            }
        }
    }

    private var showsProgress: Bool { !quiet && isatty(STDERR_FILENO) == 1 }

    /// Shows the progress on one line of a terminal, rewritten a few times a second.
    private func progress() -> (Int) -> Void {
        guard showsProgress else { return { _ in } }
        var shown = ContinuousClock.now
        return { count in
            guard ContinuousClock.now - shown >= .milliseconds(200) else { return }
            shown = .now
            Console.notify("\r\u{1B}[K\(count) posts")
        }
    }
}

/// A file to import, as the command line says how to read it.
private struct ImportFile {
    let path: String
    let format: DatasetFormat
    /// Rows that begin before this line are not imported.
    let firstLine: Int

    func open() throws(ImportFailure) -> RowReader {
        do {
            return try RowReader(path: path, format: format, fromLine: firstLine)
        } catch {
            throw .unreadable(path: path, reason: Self.reason(error))
        }
    }

    /// Reads the file to its end without a service.
    func check() throws -> CheckReport {
        var rows = try open()
        var report = CheckReport(columns: rows.columns)
        do {
            while let row = try rows.next() {
                switch row {
                case .post: report.postCount += 1
                case .rejected(let rejection): report.leftOut.append(LeftOutPost(rejection))
                }
            }
        } catch {
            throw ImportFailure.unreadable(path: path, reason: Self.reason(error))
        }
        return report
    }

    /// Imports the rows of the open file, which need not fit into memory, with their votes.
    ///
    /// `showProgress` gets the number of posts imported so far.
    func send(
        _ rows: RowReader,
        to feed: String,
        over client: FeedClient,
        showProgress: (Int) -> Void
    ) async throws(ImportFailure) -> ImportReport {
        var rows = rows
        var progress = ImportProgress(fromLine: firstLine)
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
        } catch let error as FeedClientError {
            throw .call(error, progress)
        } catch {
            throw .badFile(path: path, reason: Self.reason(error), progress)
        }
        leftOut.sort { $0.line < $1.line }
        return ImportReport(
            feed: feed,
            importedCount: progress.importedCount,
            leftOut: leftOut,
            columns: rows.columns
        )
    }

    private static func reason(_ error: any Error) -> String {
        (error as? DatasetError)?.description ?? error.systemReason
    }
}

/// What of a file is in the feed: all up to a line, and perhaps rows behind it.
///
/// Several batches are in flight. Of three with the lines 2 to 257, 258 to 513 and 514 to 769 the second may
/// fail and the third not: then all up to line 257 is in, and lines 514 to 769 are.
package struct ImportProgress: Equatable, Sendable {
    package private(set) var importedCount = 0
    /// All rows that begin up to this line were imported, or left out and reported.
    package private(set) var throughLine: Int
    /// The rows behind a gap that were imported, too.
    package private(set) var linesBehind: [ClosedRange<Int>] = []
    private var batchCount = 0

    /// Nothing yet of a file whose rows before a line are not imported.
    package init(fromLine firstLine: Int) { throughLine = firstLine - 1 }

    package mutating func add(number: Int, rows: ClosedRange<Int>, importedCount count: Int) {
        importedCount += count
        guard number == batchCount else { return linesBehind.append(rows) }
        batchCount += 1
        throughLine = rows.upperBound
    }

    /// Sentences for what is in, and how to go on.
    package var description: String {
        let count = "\(importedCount) posts were imported before."
        guard batchCount > 0 || !linesBehind.isEmpty else { return count }
        let behind = linesBehind.map { " Lines \($0.lowerBound) to \($0.upperBound) are in, too." }
        return "\(count) All up to line \(throughLine) is in; "
            + "--from-line \(throughLine + 1) goes on." + behind.joined()
    }
}

package enum ImportFailure: Error, CustomStringConvertible {
    /// The file cannot be opened, or holds no posts to import.
    case unreadable(path: String, reason: String)
    /// Reading the file failed before its end.
    case badFile(path: String, reason: String, ImportProgress)
    /// A call failed; posts that were imported before stay.
    case call(FeedClientError, ImportProgress)

    /// What happened, how much of the file is in the feed, and how to go on.
    package var description: String {
        switch self {
        case .unreadable(let path, let reason): "\(path): \(reason)"
        case .badFile(let path, let reason, let progress):
            "\(path): \(reason) \(progress.description)"
        case .call(let error, let progress): "\(error.description) \(progress.description)"
        }
    }
}

package struct ImportReport: Report {
    private let feed: String
    private let importedCount: Int
    private let leftOut: [LeftOutPost]
    private let columns: ColumnUse?

    package init(
        feed: String,
        importedCount: Int,
        leftOut: [LeftOutPost],
        columns: ColumnUse? = nil
    ) {
        self.feed = feed
        self.importedCount = importedCount
        self.leftOut = leftOut
        self.columns = columns
    }

    package var document: Document {
        [
            "feed": feed, "imported_count": importedCount, "left_out": leftOut,
            "columns": columns,
        ]
    }

    /// Not if every post was left out.
    package var isDone: Bool { importedCount > 0 || leftOut.isEmpty }

    /// A line, what was not read, and a table of the first posts that were left out.
    package func text(_ style: TextStyle) -> String {
        "Imported \(importedCount) posts into \(VisibleText.line(feed)); \(leftOut.count) left out.\n"
            + (columns?.lines ?? "") + leftOut.table(style)
    }
}

/// What an import would find in a file, as `import --check` reports it.
private struct CheckReport: Report {
    var postCount = 0
    var leftOut: [LeftOutPost] = []
    let columns: ColumnUse

    var document: Document { ["post_count": postCount, "left_out": leftOut, "columns": columns] }

    /// A line, what is not read, and a table of the first posts that are no posts.
    func text(_ style: TextStyle) -> String {
        "\(postCount) posts can be sent; \(leftOut.count) would be left out. The feed's limits are the "
            + "service's to check.\n" + columns.lines + leftOut.table(style)
    }
}

extension ColumnUse {
    /// The sentences for people, on a line; empty if there are none.
    fileprivate var lines: String { description.isEmpty ? "" : description + "\n" }
}

extension [LeftOutPost] {
    /// A table of the first posts, behind an empty line; empty if there are none.
    fileprivate func table(_ style: TextStyle) -> String {
        guard !isEmpty else { return "" }
        let columns: [TextColumn<LeftOutPost>] = [
            .number("LINE") { "\($0.line)" }, .number("ACTUAL") { $0.shownActual },
            .number("LIMIT") { $0.shownLimit }, .text("FIELD") { $0.field },
            .text("REASON") { $0.reason },
        ]
        let table = TextTable(Array(prefix(Self.shownCount)), columns)
        let rest = count - Self.shownCount
        let more = rest > 0 ? "… and \(rest) more; --json names them all.\n" : ""
        return "\n" + table.rendered(style) + more
    }

    /// The most rows that are shown; a file of another kind may have a million.
    private static var shownCount: Int { 200 }
}

extension LeftOutPost {
    /// The value or number for people; empty if there is no limit to compare a number with.
    fileprivate var shownActual: String {
        if !value.isEmpty { return value }
        return limit > 0 ? "\(actual)" : ""
    }

    /// The limit for people; empty if none was passed.
    fileprivate var shownLimit: String { limit > 0 ? "\(limit)" : "" }
}
