internal import ArgumentParser
internal import FeedClient
package import FeedProto

struct FeedsCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "feeds",
        abstract: "Lists the feeds and their policies."
    )

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        FeedsReport(try await client.feeds())
    }
}

struct CreateFeedCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "create-feed",
        abstract: "Creates a feed and shows it; its policy never changes.",
        discussion: """
            Where anyone votes, every vote counts. Where users or devices do, each has one ballot on a \
            post, which it may change. Devices are callers with a --client-id; users vote there, too.
            """
    )

    @Argument(help: "Its name: a small letter, then small letters, digits and hyphens.")
    var name: String

    @Option(help: "Whose votes count.")
    var voters = VotersArgument.anyone

    @Option(help: "The order of lists that name none.")
    var order = WireArgument(Order.top)

    @Option(help: "The most characters of a title, up to 1,000.")
    var maxTitle: UInt32 = 255

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        let feed = Feed(
            name: name,
            defaultOrder: order.value,
            voteMode: voters == .anyone ? .tally : .ballot,
            maximumTitleLength: maxTitle,
            voters: voters.voters
        )
        return FeedsReport([try await client.createFeed(feed)])
    }
}

enum VotersArgument: String, CaseIterable, ExpressibleByArgument {
    case anyone
    case users
    case devices

    /// The voters of the contract; unspecified if votes are tallies.
    fileprivate var voters: Voters {
        switch self {
        case .anyone: .unspecified
        case .users: .users
        case .devices: .devices
        }
    }
}

package struct FeedsReport: Report {
    private let feeds: [Feed]

    package init(_ feeds: [Feed]) { self.feeds = feeds }

    package var document: Document { ["feeds": feeds.map(Self.member)] }

    private static func member(_ feed: Feed) -> Document {
        [
            "name": feed.name, "post_count": feed.postCount,
            // The order of lists that name none.
            "default_order": feed.defaultOrder.argument, "vote_mode": feed.voteMode.argument,
            // Empty if votes are tallies.
            "voters": feed.voters.argument,
            // How many posts the caller has neither read nor dismissed.
            "unread_count": feed.unreadCount, "max_title_length": feed.maximumTitleLength,
            "min_text_length": feed.minimumTextLength, "max_text_length": feed.maximumTextLength,
        ]
    }

    package func text(_ style: TextStyle) -> String {
        let hasVoters = feeds.contains { !$0.voters.argument.isEmpty }
        let hasUnread = feeds.contains { $0.unreadCount > 0 }
        var columns: [TextColumn<Feed>] = [
            .text("FEED") { $0.name }, .number("POSTS") { "\($0.postCount)" },
        ]
        if hasUnread { columns.append(.number("UNREAD") { "\($0.unreadCount)" }) }
        columns += [
            .text("ORDER") { $0.defaultOrder.argument }, .text("VOTES") { $0.voteMode.argument },
        ]
        if hasVoters { columns.append(.text("VOTERS") { $0.voters.argument }) }
        columns += [
            .number("TITLE") { "to \($0.maximumTitleLength)" },
            .text("TEXT") { "\($0.minimumTextLength) to \($0.maximumTextLength)" },
        ]
        return TextTable(feeds, columns).rendered(style)
    }
}
