internal import ArgumentParser
internal import FeedClient
internal import FeedOffline
internal import FeedProto

/// Shows a feed page by page.
struct FeedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed",
        abstract: "Shows a feed page by page: n is the next page, p the one before, q the end.",
        discussion: """
            4u votes for the post of row 4, 4d against it, and 4o shows it and marks it as read. The pages are \
            those of one snapshot, so no post moves while it is read. Where standard input or output is no \
            terminal, the first page is printed.
            """
    )

    @OptionGroup var shown: ShownListOptions

    @Flag(help: "Only posts that the person has not read.")
    var unread = false

    @Flag(
        help:
            "Show the copy of the last feedctl sync, with the changes that wait; votes wait, too."
    )
    var offline = false

    @OptionGroup var options: PersonOptions

    func run() async throws {
        if offline {
            let copy = try await options.openOffline()
            do {
                try await show(CopiedList(copy: copy, list: list, rowCount: shown.rows))
            } catch {
                await copy.close()
                throw error
            }
            await copy.close()
        } else {
            let client = try await options.connect()
            do {
                try await show(ServedList(client: client, list: list, rowCount: shown.rows))
            } catch {
                await client.close()
                throw error
            }
            await client.close()
        }
    }

    private func show(_ pages: some PagedList) async throws {
        guard options.json || !Terminal.isInput || !Terminal.isOutput else {
            return try await Pager(pages: pages, list: list).run()
        }
        let page = try await pages.page(at: nil).page
        try PageReport([page], of: list, hasViewer: true, commandLine: nil)
            .print(asJSON: options.json)
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
