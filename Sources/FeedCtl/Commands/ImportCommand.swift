internal import ArgumentParser
internal import FeedClient
internal import FeedDataset
internal import FeedImport
internal import FeedProto
internal import Foundation

/// Imports posts from a file.
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

    func report() throws -> (any Report)? {
        check ? try file().check() : nil
    }

    func perform(_ client: FeedClient) async throws -> any Report {
        let feed = feed ?? ""
        let rows = try file().open()
        if showsProgress, !rows.columns.description.isEmpty {
            Console.notify(rows.columns.description + "\n")
        }
        if createFeed { try await makeFeed(feed, client) }
        let importer = Importer(client, into: feed, try file(), showProgress: progress())
        defer { if showsProgress { Console.notify("\r\u{1B}[K") } }
        return try await importer.run(rows)
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
