import FeedConcurrency
import FeedProto
import FeedTestSupport
import FeedTransport

/// A client that applies the events of its watches to copies of what it watches.
final class WatchingClient {
    /// What a client has of a watch.
    struct Copy {
        /// The watched posts.
        var posts: [UInt64: Post] = [:]
        /// The ids of the watched list, in order.
        var ranking: [UInt64] = []
        /// The posts that were created in the list since the watch began.
        var newPostCount = 0
        /// The posts that the watch has named as removed.
        var removed: [UInt64] = []
        /// The frames of the watch.
        var frames: [ServerFrame] = []

        /// The events of the watch.
        var events: [WatchPostsEvent] {
            frames.compactMap { frame in
                if case .watchPosts(let event) = frame.response { event } else { nil }
            }
        }

        /// Why the watch ended; nil while it lasts.
        var end: Status? { frames.last?.status }

        /// The watched posts in the order of the list.
        var list: [Post] { ranking.compactMap { posts[$0] } }

        mutating func apply(_ event: WatchPostsEvent) {
            if event.isReset { self = Copy(frames: frames) }
            for post in event.changed {
                guard post.feed.isEmpty else {
                    posts[post.id] = post
                    continue
                }
                // Only numbers: the client has the rest.
                posts[post.id]?.score = post.score
                posts[post.id]?.upvoteCount = post.upvoteCount
                posts[post.id]?.downvoteCount = post.downvoteCount
                posts[post.id]?.revision = post.revision
                posts[post.id]?.viewer = post.viewer
            }
            for id in event.removedIDs { posts[id] = nil }
            removed += event.removedIDs
            if !event.ranking.isEmpty { ranking = event.ranking }
            ranking.removeAll { event.removedIDs.contains($0) }
            newPostCount += Int(event.newPostCount)
        }
    }

    /// The connection.
    let client: WireClient
    /// What it has of its watches, by their ids.
    var copies: [UInt64: Copy] = [:]
    /// The last GoAway.
    var goAway: GoAway?

    /// Connects to a service.
    init(port: UInt16, from source: UInt32? = nil, receiveBufferByteCount: Int32? = nil) throws {
        client = try WireClient(
            port: port,
            from: source,
            receiveBufferByteCount: receiveBufferByteCount
        )
    }

    /// Begins a watch and waits for its first frame.
    func watch(
        _ request: WatchPostsRequest,
        minimumRevision: UInt64 = 0,
        actingUserID: UInt64 = 0
    ) throws -> UInt64 {
        let id = client.nextID()
        try client.send(
            ClientFrame(
                id: id,
                request: .watchPosts(request),
                minimumRevision: minimumRevision,
                actingUserID: actingUserID
            )
        )
        copies[id] = Copy()
        while copies[id]?.frames.isEmpty == true { try receive() }
        return id
    }

    /// Makes a call and waits for its answer; events that come before it are applied.
    @discardableResult
    func call(_ request: Request) throws -> ServerFrame {
        let id = try client.send(request)
        while true {
            if let frame = try receive(), frame.id == id { return frame }
        }
    }

    /// Receives one frame, and applies it if it is an event; the frame is nil at the end of file.
    @discardableResult
    func receive() throws -> ServerFrame? {
        guard let frame = try client.receive() else { return nil }
        if case .goAway(let said) = frame.response { goAway = said }
        guard copies[frame.id] != nil else { return frame }
        copies[frame.id]?.frames.append(frame)
        if case .watchPosts(let event) = frame.response { copies[frame.id]?.apply(event) }
        return frame
    }

    /// Waits until the service has sent all events that were due.
    ///
    /// Events that are due when a call arrives leave in the loop iteration after it at the latest.
    func settle() throws {
        for _ in 0..<4 { try call(.ping(PingRequest())) }
    }

    /// Moves the clock and waits for the events that are due then.
    func advance(_ clock: ManualClock, by duration: Duration = .milliseconds(260)) throws {
        clock.advance(by: duration)
        try settle()
    }

    /// The first page of a list, as the caller sees it.
    func page(_ request: WatchPostsRequest) throws -> [Post] {
        let list = ListPostsRequest(
            feed: request.feed,
            order: request.order,
            window: request.window,
            pageSize: Int32(request.topCount),
            includesDismissed: true
        )
        guard case .listPosts(let page) = try call(.listPosts(list)).response else { return [] }
        return page.posts
    }

    /// The watches that the statistics count.
    func watchCount() throws -> UInt64? {
        guard case .serverStats(let stats) = try call(.getServerStats).response else { return nil }
        return stats.watchCount
    }
}
