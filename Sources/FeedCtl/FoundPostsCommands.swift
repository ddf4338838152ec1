internal import ArgumentParser
internal import FeedClient
internal import FeedConcurrency
package import FeedProto

struct CorrectTimesCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "correct-times",
        abstract:
            "Lists posts more than five minutes ahead of the service's clock, or corrects them.",
        discussion: """
            A service that was started with a wrong clock has stamped posts with times that are to \
            come. Without --apply nothing is changed. Look at the clock of the service's machine \
            first: what lies ahead of it is taken for wrong.
            """
    )

    @Flag(help: "Correct them: each time that lies ahead becomes the service's time, or --time.")
    var apply = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The time to set, in milliseconds since 1970.", valueName: "ms")
    )
    var time: Int64?

    @OptionGroup var options: ServiceOptions

    func validate() throws {
        guard let time else { return }
        guard apply else { throw ValidationError("--time: it is for --apply only.") }
        guard time > 0 else { throw ValidationError("--time: expected more than 0, got \(time).") }
    }

    func perform(_ client: FeedClient) async throws -> any Report {
        try await FoundPostsReport(isApplied: apply) { report, afterID in
            let request = CorrectTimesRequest(
                appliesCorrection: apply,
                timeMilliseconds: time ?? 0,
                afterID: afterID
            )
            let part = try await client.correctTimes(request)
            report.add(part)
            return part.nextAfterID
        }
    }
}

struct DeletePostsCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete-posts",
        abstract:
            "Lists the posts of a user, a device or a host with who made them, or deletes them.",
        discussion: """
            For services and operators. Without --apply nothing is changed, and without a user, a \
            device or a host the posts of all are listed. The service knows devices and hosts of the \
            latest 131,072 posts since its start, and none of imported posts.
            """
    )

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only posts whose author is this user.", valueName: "user")
    )
    var author: UserID = 0

    @Option(
        help: ArgumentHelp(
            "Only posts of the device with this client id, 32 hexadecimal digits.",
            valueName: "id"
        ),
        transform: ServiceOptions.readClientID
    )
    var device: ClientID?

    @Option(
        help: ArgumentHelp(
            "Only posts from this IPv4 address, or from the IPv6 network of this one.",
            valueName: "address"
        )
    )
    var host = ""

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Only posts of the last 30m, 2h or 7d, or since so many milliseconds after 1970.",
            valueName: "time"
        )
    )
    var since: String?

    @Flag(help: "Delete them, for good.")
    var apply = false

    @OptionGroup var options: ServiceOptions

    func validate() throws {
        if let since, Self.time(since, now: 0) == nil {
            throw ValidationError("--since: expected 30m, 2h, 7d or milliseconds, got \(since).")
        }
        guard !apply || author != 0 || device != nil || !host.isEmpty else {
            throw ValidationError("--apply: expected --author, --device or --host with it.")
        }
    }

    func perform(_ client: FeedClient) async throws -> any Report {
        let now = SystemClock.unixMilliseconds()
        var request = DeletePostsRequest(
            authorID: author,
            clientID: device?.bytes ?? [],
            host: host,
            sinceTimeMilliseconds: since.flatMap { Self.time($0, now: now) } ?? 0,
            deletesPosts: apply
        )
        return try await FoundPostsReport(isApplied: apply) { report, afterID in
            request.afterID = afterID
            let part = try await client.deletePosts(request)
            report.add(part)
            return part.nextAfterID
        }
    }

    /// The time that a text says, in milliseconds since 1970; nil if it says none.
    private static func time(_ text: String, now: Int64) -> Int64? {
        let units: [Character: Int64] = ["m": 60_000, "h": 3_600_000, "d": 86_400_000]
        guard let unit = text.last.flatMap({ units[$0] }) else {
            return Int64(text).flatMap { $0 < 0 ? nil : $0 }
        }
        guard let count = Int64(text.dropLast()), (0...1_000_000).contains(count) else {
            return nil
        }
        return now - count * unit
    }
}

package struct FoundPostsReport: Report {
    /// A post as it was found; what its command does not report is nil.
    private struct Row {
        let id: PostID
        let feed: String
        let title: String
        let createTimeMilliseconds: Int64
        var updateTimeMilliseconds: Int64?
        var authorID: UserID?
        var clientID: String?
        var host: String?
    }

    /// The most posts that are shown: there may be millions.
    private static let maximumRowCount = 1_000

    /// How many posts there are, or were before they were changed.
    private var postCount: UInt64 = 0
    /// Whether they were corrected or deleted.
    private let isApplied: Bool
    /// Of `delete-posts`: the time since which the service knows devices and hosts.
    private var originsSinceMilliseconds: Int64?
    private var posts: [Row] = []

    package init(isApplied: Bool) { self.isApplied = isApplied }

    /// The report of all parts; `addPart` adds the part behind an id and returns the id of the next one.
    fileprivate init(
        isApplied: Bool,
        _ addPart: (inout Self, PostID) async throws -> PostID
    ) async throws {
        self.init(isApplied: isApplied)
        var afterID: PostID = 0
        while true {
            let nextID = try await addPart(&self, afterID)
            // A service whose next id does not advance would be asked without end.
            guard nextID > afterID else { return }
            afterID = nextID
        }
    }

    /// Adds a part of the posts that lie ahead of the service's clock.
    package mutating func add(_ part: CorrectTimesResponse) {
        add(part.posts) {
            Row(
                id: $0.id,
                feed: $0.feed,
                title: $0.title,
                createTimeMilliseconds: $0.createTimeMilliseconds,
                updateTimeMilliseconds: $0.updateTimeMilliseconds
            )
        }
    }

    package mutating func add(_ part: DeletePostsResponse) {
        originsSinceMilliseconds = part.originsSinceTimeMilliseconds
        add(part.posts) {
            Row(
                id: $0.id,
                feed: $0.feed,
                title: $0.title,
                createTimeMilliseconds: $0.createTimeMilliseconds,
                authorID: $0.authorID,
                clientID: $0.clientID.hexadecimal,
                host: $0.host
            )
        }
    }

    private mutating func add<Post>(_ found: [Post], _ row: (Post) -> Row) {
        postCount += UInt64(found.count)
        posts += found.prefix(max(0, Self.maximumRowCount - posts.count)).map(row)
    }

    package var document: Document {
        [
            "post_count": postCount, "is_applied": isApplied,
            "origins_since_ms": originsSinceMilliseconds, "posts": posts.map(Self.member),
        ]
    }

    private static func member(_ post: Row) -> Document {
        [
            "id": post.id, "feed": post.feed, "title": post.title,
            "create_time_ms": post.createTimeMilliseconds,
            "update_time_ms": post.updateTimeMilliseconds, "author_id": post.authorID,
            "client_id": post.clientID, "host": post.host,
        ]
    }

    package func text(_ style: TextStyle) -> String {
        let count = postCount == 1 ? "1 post" : "\(postCount) posts"
        guard let originsSinceMilliseconds else {
            guard postCount > 0 else { return "No post lies ahead of the service's clock.\n" }
            let edited = TextColumn<Row>.text("EDITED") {
                style.time($0.updateTimeMilliseconds ?? 0)
            }
            return table(style, [edited])
                + (isApplied
                    ? "\(count) corrected; the times shown are those before.\n"
                    : "\(count) ahead of the service's clock. If that clock is right, correct them: "
                        + "feedctl correct-times --apply\n")
        }
        let origins = table(
            style,
            [
                .number("AUTHOR") { ($0.authorID ?? 0) == 0 ? "" : "\($0.authorID ?? 0)" },
                .text("DEVICE") { $0.clientID ?? "" }, .text("HOST") { $0.host ?? "" },
            ]
        )
        return (postCount == 0 ? "" : origins) + "\(count) \(isApplied ? "deleted" : "found").\n"
            + "The service knows devices and hosts of posts made since "
            + "\(style.time(originsSinceMilliseconds)).\n"
    }

    private func table(_ style: TextStyle, _ columns: [TextColumn<Row>]) -> String {
        let first: [TextColumn<Row>] = [
            .number("ID") { "\($0.id)" }, .text("FEED") { $0.feed },
            .text("CREATED") { style.time($0.createTimeMilliseconds) },
        ]
        let table = TextTable(posts, first + columns + [.text("TITLE") { $0.title }])
        let rest = postCount > UInt64(posts.count) ? "The first \(posts.count) are shown.\n" : ""
        return table.rendered(style) + "\n" + rest
    }
}
