internal import ArgumentParser
internal import FeedClient
internal import FeedProto
internal import FeedText
internal import Foundation

/// Shows how the first posts of a feed change.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Shows how the first posts of a feed change: r sorts them anew, q is the end.",
        discussion: """
            The numbers change in place, and no row moves by itself. Where standard input or output is no \
            terminal, each change is a line.
            """
    )

    @OptionGroup var shown: ShownListOptions

    @Option(help: ArgumentHelp("The least time between two changes.", valueName: "milliseconds"))
    var interval = 250

    @Option(help: ArgumentHelp("End after so many changes; for lines only.", valueName: "count"))
    var events: Int?

    @OptionGroup var options: PersonOptions

    func validate() throws {
        guard (50...60_000).contains(interval) else {
            throw ValidationError("--interval: expected 50 to 60000, got \(interval).")
        }
        if let events, events < 1 {
            throw ValidationError("--events: expected 1 or more, got \(events).")
        }
    }

    func run() async throws {
        let client = try await options.connect()
        let watch = client.watch(subject, interval: .milliseconds(interval))
        do {
            if isInteractive { try await show(watch) } else { try await printChanges(watch) }
        } catch {
            await client.close()
            throw error
        }
        await client.close()
    }

    private var isInteractive: Bool {
        !options.json && events == nil && Terminal.isInput && Terminal.isOutput
    }

    private var subject: PostWatch {
        PostWatch(
            .top(shown.rows),
            in: shown.feed,
            order: shown.ordering.requestedOrder,
            window: shown.ordering.requestedWindow
        )
    }

    /// A line for each change, until there are enough, or nobody reads them any more.
    private func printChanges(_ watch: WatchSequence) async throws {
        var before: WatchedPosts?
        var left = events ?? .max
        for try await posts in watch {
            guard let report = WatchReport(posts, after: before) else { continue }
            let line = options.json ? try report.jsonLine() : report.text(.current)
            guard try Console.writeWhileRead(line) else { return }
            before = posts
            left -= 1
            if left == 0 { return }
        }
    }

    /// A live list, until a key or a signal ends it.
    private func show(_ watch: WatchSequence) async throws {
        let name = shown.feed.isEmpty ? "all feeds" : VisibleText.line(shown.feed)
        let screen = LiveScreen(title: "\(name)   r refresh, q quit")
        try await Keys.run { keys in
            try await LiveScreen.run {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { for try await posts in watch { try await screen.show(posts) } }
                    group.addTask { try await follow(keys, watch, screen) }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            }
        }
    }

    private func follow(
        _ keys: AsyncStream<Key>,
        _ watch: WatchSequence,
        _ screen: LiveScreen
    ) async throws {
        for await key in keys {
            switch key {
            case .character("r"), .character("R"): watch.refresh()
            case .redraw: try await screen.redraw()
            case .character("q"), .character("Q"), .quit: return
            case .character: continue
            }
        }
    }
}
