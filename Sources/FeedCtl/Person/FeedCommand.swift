internal import ArgumentParser
internal import FeedClient
internal import FeedOffline
internal import FeedProto
internal import Foundation

/// Shows a feed page by page.
struct FeedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed",
        abstract: "Shows a feed page by page: n is the next page, p the one before, q the end.",
        discussion: """
            The pages are those of one snapshot, so no post moves while it is read. Where standard input \
            or output is no terminal, the first page is printed.
            """
    )

    @OptionGroup var shown: ShownListOptions

    @Flag(help: "Only posts that the person has not read.")
    var unread = false

    @Flag(
        help:
            "Show the copy of the last feedctl sync, with the changes that wait; no service is asked."
    )
    var offline = false

    @OptionGroup var options: PersonOptions

    func run() async throws {
        guard !offline else { return try await showCopy() }
        let client = try await FeedClient.connect(
            naming: options.target,
            try options.configuration()
        )
        do {
            try await show(client)
        } catch {
            await client.close()
            throw error
        }
        await client.close()
    }

    private func show(_ client: FeedClient) async throws {
        var start: PageStart? = .first
        while let from = start {
            let page = try await client.listPosts(list, pageSize: shown.rows, from: from)
            let report = PageReport([page], of: list, hasViewer: true, commandLine: nil)
            try options.write(report)
            start = isInteractive ? ask(page) : nil
        }
    }

    /// Prints the first page of the copy.
    private func showCopy() async throws {
        let copy = try await options.openOffline()
        do {
            let page = Page(
                posts: try await copy.posts(list, limit: shown.rows).posts,
                totalSize: UInt64(try await copy.postCount(list))
            )
            await copy.close()
            try options.write(PageReport([page], of: list, hasViewer: true, commandLine: nil))
        } catch {
            await copy.close()
            throw error
        }
    }

    private var isInteractive: Bool { !options.json && Terminal.isInput && Terminal.isOutput }

    /// The page that the person asks for; nil at the end.
    private func ask(_ page: Page) -> PageStart? {
        while true {
            var keys: [String] = []
            if page.next != nil { keys.append("n next") }
            if page.previous != nil { keys.append("p previous") }
            Console.notify((keys + ["q quit"]).joined(separator: ", ") + ": ")
            switch readLine() {
            case "n", "":
                if let next = page.next { return .token(next) }
            case "p":
                if let previous = page.previous { return .token(previous) }
            case "q", nil: return nil
            default: break
            }
        }
    }

    private var list: PostList {
        PostList(
            feed: shown.feed,
            order: shown.ordering.requestedOrder,
            window: shown.ordering.requestedWindow,
            unreadOnly: unread,
            consistency: .stable
        )
    }
}
