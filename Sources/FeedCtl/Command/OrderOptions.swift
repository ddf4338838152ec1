internal import ArgumentParser
internal import FeedProto

/// The order of a list, and the time that its posts are of.
struct OrderOptions: ParsableArguments {
    @Option(help: "The order; without it, the feed's own.")
    var order: OrderArgument?

    @Option(help: "Only posts of the last hour, day …; for top, controversial and discussed.")
    var window: WindowArgument?

    /// The order of the contract.
    var requestedOrder: Order { order?.order ?? .unspecified }

    /// The window of the contract.
    var requestedWindow: Window { window?.window ?? .unspecified }
}
