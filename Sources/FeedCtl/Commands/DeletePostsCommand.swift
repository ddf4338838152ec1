internal import ArgumentParser
internal import FeedClient
internal import FeedConcurrency
internal import FeedProto

/// Finds and deletes what one user, device or host has made.
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
    var author: UInt64 = 0

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
        var report = FoundPostsReport(isApplied: apply)
        let now = SystemClock.unixMilliseconds()
        var request = DeletePostsRequest(
            authorID: author,
            clientID: device?.bytes ?? [],
            host: host,
            sinceTimeMilliseconds: since.flatMap { Self.time($0, now: now) } ?? 0,
            deletesPosts: apply
        )
        repeat {
            let part = try await client.deletePosts(request)
            report.add(part)
            // A service whose next id does not advance would be asked without end.
            guard part.nextAfterID > request.afterID else { break }
            request.afterID = part.nextAfterID
        } while true
        return report
    }

    /// The time that a text says, in milliseconds since 1970; nil where it says none.
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
