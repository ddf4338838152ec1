internal import ArgumentParser
internal import FeedClient
internal import FeedOffline
internal import FeedProto
internal import FeedText

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
            try await options.withOffline {
                try await show(CopiedList(copy: $0, list: list, rowCount: shown.rows))
            }
        } else {
            try await options.withClient {
                try await show(ServedList(client: $0, list: list, rowCount: shown.rows))
            }
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

/// Shows a list on a terminal, a page at a time, by single keys: `n`, `p`, `q`, and `4u` for row 4.
private struct Pager<Pages: PagedList> {
    let pages: Pages
    let list: PostList

    /// The page on the terminal, and what was typed since.
    private struct State {
        var turned: TurnedPage<Pages.Place>
        /// The number of the first row, counted over the pages from 1.
        var firstRow = 1
        /// The row that was typed; 0 is none.
        var row = 0

        /// The place before the page; nil of the first one.
        var previous: Pages.Place? { firstRow > 1 ? turned.previous : nil }
    }

    /// Shows the first page, and does what the keys say until the end.
    func run() async throws {
        try await Keys.run { keys in
            var state = State(turned: try await pages.page(at: nil))
            try show(state)
            for await key in keys {
                do {
                    guard try await follow(key, &state) else { return }
                } catch let error as ConsoleError {
                    throw error
                } catch {
                    // A call that failed says why, and the person goes on.
                    let named = (error as? FeedClientError)?.namingSignIn ?? error
                    Console.notify("\n\(VisibleText.line("\(named)"))\n")
                    ask(state)
                }
            }
        }
    }

    /// Does what a key says; false at the end.
    private func follow(_ key: Key, _ state: inout State) async throws -> Bool {
        guard case .character(let character) = key else { return key != .quit }
        if let digit = character.wholeNumberValue {
            // No list that a person turns has so many rows.
            state.row = min(state.row, 1_000_000) * 10 + digit
            Console.notify("\(digit)")
            return true
        }
        let row = state.row
        state.row = 0
        switch character {
        case "n", " ", "\n": try await turn(to: state.turned.next, &state, isBack: false)
        case "p": try await turn(to: state.previous, &state, isBack: true)
        case "u", "d":
            guard let post = post(row, state) else { break }
            let direction: VoteDirection = character == "u" ? .up : .down
            let text = try await pages.vote(on: post.id, direction)
            try Console.write("\n\(text)")
            ask(state)
        case "o":
            guard let post = post(row, state) else { break }
            let text = PostReport(try await pages.open(post.id)).text(.current)
            try Console.write("\n\(text)")
            ask(state)
        case "q": return false
        default: break
        }
        return true
    }

    private func turn(to place: Pages.Place?, _ state: inout State, isBack: Bool) async throws {
        guard let place else { return }
        let turned = try await pages.page(at: place)
        if isBack {
            state.firstRow = max(1, state.firstRow - turned.page.posts.count)
        } else {
            state.firstRow += state.turned.page.posts.count
        }
        state.turned = turned
        try show(state)
    }

    /// The post of a row; if there is none, the person is told.
    private func post(_ row: Int, _ state: State) -> Post? {
        let posts = state.turned.page.posts
        guard posts.indices.contains(row - state.firstRow) else {
            Console.notify(
                row == 0 ? "\nType the number of a row first, as 4u.\n" : "\nNo row \(row) here.\n"
            )
            ask(state)
            return nil
        }
        return posts[row - state.firstRow]
    }

    private func show(_ state: State) throws {
        let report = PageReport(
            [state.turned.page],
            of: list,
            hasViewer: true,
            commandLine: nil,
            firstRow: state.firstRow
        )
        try Console.write("\n\(report.text(.current))")
        ask(state)
    }

    private func ask(_ state: State) {
        var keys: [String] = []
        if state.turned.next != nil { keys.append("n next") }
        if state.previous != nil { keys.append("p previous") }
        if !state.turned.page.posts.isEmpty {
            let row = state.firstRow
            keys += ["\(row)u up", "\(row)d down", "\(row)o open"]
        }
        Console.notify((keys + ["q quit"]).joined(separator: ", ") + ": ")
    }
}

/// A list that a person turns the pages of.
private protocol PagedList {
    associatedtype Place: Sendable

    /// Reads a page; nil is the first.
    func page(at place: Place?) async throws -> TurnedPage<Place>

    /// Votes on a post, and says what has become of the vote.
    func vote(on id: PostID, _ direction: VoteDirection) async throws -> String

    /// Reads a post and marks it as read.
    func open(_ id: PostID) async throws -> Post
}

/// A page, and where its neighbours start; nil at the ends of the list.
private struct TurnedPage<Place: Sendable>: Sendable {
    let page: Page
    let next: Place?
    let previous: Place?
}

private struct ServedList: PagedList {
    let client: FeedClient
    let list: PostList
    let rowCount: Int

    func page(at place: PageToken?) async throws -> TurnedPage<PageToken> {
        let start = place.map(PageStart.token) ?? .first
        let page = try await client.listPosts(list, pageSize: rowCount, from: start)
        return TurnedPage(page: page, next: page.next, previous: page.previous)
    }

    func vote(on id: PostID, _ direction: VoteDirection) async throws -> String {
        Sentence.vote(try await client.vote(on: id, direction)).text(.current)
    }

    func open(_ id: PostID) async throws -> Post { try await client.read(id) }
}

/// A list of the copy on this device, whose changes wait in the outbox.
private struct CopiedList: PagedList {
    let copy: OfflineFeed
    let list: PostList
    let rowCount: Int

    func page(at place: OfflineStart?) async throws -> TurnedPage<OfflineStart> {
        let page = try await copy.posts(list, from: place ?? .first, limit: rowCount)
        let total = UInt64(try await copy.postCount(list))
        return TurnedPage(
            page: Page(posts: page.posts, totalSize: total),
            next: page.hasMore ? page.last.map(OfflineStart.after) : nil,
            previous: page.first.map(OfflineStart.before)
        )
    }

    func vote(on id: PostID, _ direction: VoteDirection) async throws -> String {
        let entry = try await copy.vote(on: id, direction)
        return "The vote waits as entry \(entry.number) for feedctl sync.\n"
    }

    func open(_ id: PostID) async throws -> Post {
        guard let post = try await copy.post(id) else { throw OfflineError.unknownPost(id) }
        try await copy.mark([id], as: .read)
        return post
    }
}
