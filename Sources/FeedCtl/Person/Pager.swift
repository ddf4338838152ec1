internal import FeedClient
internal import FeedProto
internal import FeedText

/// Shows a list on a terminal, a page at a time, by single keys: `n`, `p`, `q`, and `4u` for row 4.
struct Pager<Pages: PagedList> {
    /// The list's pages.
    let pages: Pages
    /// The list that they are of.
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
                    let named = (error as? FeedClientError)?
                        .naming(identityFlags: "feedctl login or feedctl signup")
                    Console.notify("\n\(VisibleText.line("\(named ?? error)"))\n")
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

    /// The post of a row; where there is none, the person is told.
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
