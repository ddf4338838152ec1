internal import ArgumentParser
internal import FeedClient
internal import FeedProto
internal import Foundation

/// Imports posts from a file.
struct ImportCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Imports the posts of a CSV file with their times and counts.",
        discussion: """
            The first line names the columns: title, and where there are author, selftext, url, \
            thumbnail, created_utc, num_comments, ups and downs. Posts that the feed does not take, \
            and those with a value that no post may have, are left out and reported.
            """
    )

    @Argument(help: "The file.", completion: .file(extensions: ["csv"]))
    var file: String

    @Option(help: "Where.")
    var feed: String

    @Flag(help: "Create the feed if there is none of that name.")
    var createFeed = false

    @Flag(help: "Show no progress.")
    var quiet = false

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        if createFeed { try await makeFeed(client) }
        let importer = Importer(client, into: feed, path: file, showProgress: progress())
        defer { if showsProgress { Console.notify("\r\u{1B}[K") } }
        return try await importer.run()
    }

    private func makeFeed(_ client: FeedClient) async throws {
        do throws(FeedClientError) {
            try await client.createFeed(Feed(name: feed))
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
