internal import ArgumentParser
internal import FeedProto

/// The list that a person looks at, and how much of it.
struct ShownListOptions: ParsableArguments {
    @Argument(help: "The feed; without it, the front page over all feeds.")
    var feed = ""

    @Option(help: "The order; without it, the feed's own.")
    var order: OrderArgument?

    @Option(help: "Only posts of the last hour, day …; for top, controversial and discussed.")
    var window: WindowArgument?

    @Option(help: "How many posts are shown at once, 1 to 100.")
    var rows = 20

    func validate() throws {
        guard (1...100).contains(rows) else {
            throw ValidationError("--rows: expected 1 to 100, got \(rows).")
        }
    }

    /// The order of the contract.
    var requestedOrder: Order { order?.order ?? .unspecified }

    /// The window of the contract.
    var requestedWindow: Window { window?.window ?? .unspecified }
}
