import FeedProto
import FeedTestSupport

/// The posts and watches of a service in a few lines, as docs/PROTOCOL.md describes them.
struct ModelWatchService {
    private struct Watch {
        let request: WatchPostsRequest
        let viewer: Viewer?
        /// The revisions of the posts that the client has; nil before the first event.
        var known: [UInt64: UInt64]?
        var ids: [UInt64] = []
        var createdCount: UInt64 = 0
    }

    /// A text that fills a good part of a frame.
    static let longText = String(repeating: "x", count: 70_000)

    private(set) var instance: UInt64 = 1
    private(set) var revision: UInt64 = 0
    /// Whose watches begin on the connection.
    var viewer: Viewer?
    private var posts: [UInt64: Post] = [:]
    private var editRevisions: [UInt64: UInt64] = [:]
    private var lastID: UInt64 = 0
    private var createdCount: UInt64 = 0
    private var watches: [UInt64: Watch] = [:]

    /// A service with some posts.
    init(_ random: inout SeededGenerator) {
        for _ in 0..<8 { create(&random) }
    }

    /// The frames that began the watches of the connection.
    var watchIDs: [UInt64] { watches.keys.sorted() }

    /// A connection begins.
    mutating func accept() { watches = [:] }

    /// The service starts with another state.
    mutating func replaceState(_ random: inout SeededGenerator) {
        instance += 1
        revision = 0
        posts = [:]
        lastID = 0
        for _ in 0..<Int.random(in: 1...20, using: &random) { change(&random) }
    }

    /// Makes a change at random.
    mutating func change(_ random: inout SeededGenerator) {
        guard let id = posts.keys.sorted().randomElement(using: &random), !random.oneIn(6) else {
            return create(&random)
        }
        revision += 1
        if random.oneIn(8) {
            posts[id] = nil
        } else if random.oneIn(5) {
            posts[id]?.title = "edit \(revision)"
            posts[id]?.revision = revision
            editRevisions[id] = revision
        } else {
            posts[id]?.score += Int64.random(in: -3...3, using: &random)
            posts[id]?.upvoteCount += 1
            posts[id]?.revision = revision
        }
    }

    private mutating func create(_ random: inout SeededGenerator) {
        revision += 1
        lastID += 1
        createdCount += 1
        var post = Post(id: lastID, feed: "posts", title: "post \(lastID)")
        post.text = random.oneIn(6) ? Self.longText : ""
        post.revision = revision
        posts[lastID] = post
        editRevisions[lastID] = revision
    }

    /// The watched posts of a request as they are.
    func list(_ request: WatchPostsRequest, viewer: Viewer?) -> [Post] {
        let list =
            request.postIDs.isEmpty
            ? Array(
                posts.values.sorted { ($1.score, $0.id) < ($0.score, $1.id) }
                    .prefix(Int(request.topCount))
            ) : request.postIDs.compactMap { posts[$0] }
        return list.map { post in
            var post = post
            post.viewer = viewer
            return post
        }
    }

    /// Begins a watch.
    mutating func begin(_ id: UInt64, _ request: WatchPostsRequest) {
        var request = request
        if request.sinceRevision > revision { request.sinceRevision = 0 }
        watches[id] = Watch(request: request, viewer: viewer)
    }

    /// Ends a watch; its last frame, or nil where it had ended before.
    mutating func end(_ id: UInt64, _ status: Status) -> ServerFrame? {
        guard watches.removeValue(forKey: id) != nil else { return nil }
        return ServerFrame(id: id, revision: revision, status: status)
    }

    /// The next event of a watch; nil where there is nothing to say.
    mutating func event(_ id: UInt64, _ random: inout SeededGenerator) -> ServerFrame? {
        guard var watch = watches[id] else { return nil }
        let list = list(watch.request, viewer: watch.viewer)
        let isList = watch.request.postIDs.isEmpty
        var event = WatchPostsEvent()
        let ids = list.map(\.id)
        if let known = watch.known {
            for post in list where post.revision > known[post.id] ?? 0 {
                let isWhole = editRevisions[post.id] ?? 0 > known[post.id] ?? 0
                event.changed.append(isWhole ? post : post.onlyNumbers)
            }
            event.removedIDs = known.keys.filter { !ids.contains($0) }.sorted()
            if isList, watch.ids != ids { event.ranking = ids }
            if isList { event.newPostCount = UInt32(createdCount - watch.createdCount) }
            guard event != WatchPostsEvent() else { return nil }
        } else {
            event.isReset = watch.request.sinceRevision == 0
            event.changed = list.filter { $0.revision > watch.request.sinceRevision }
            if isList { event.ranking = ids }
            if !isList { event.removedIDs = watch.request.postIDs.filter { !ids.contains($0) } }
        }
        var unsent: Set<UInt64> = []
        let isLarge = event.changed.contains { !$0.text.isEmpty }
        if isLarge, random.oneIn(2) {
            let kept = event.changed.lastIndex { !$0.text.isEmpty } ?? 0
            let rest = event.changed[(kept + 1)...]
            unsent = Set(rest.map(\.id))
            event.changed.removeLast(rest.count)
        }
        watch.known = Dictionary(
            uniqueKeysWithValues: list.map { ($0.id, unsent.contains($0.id) ? 0 : $0.revision) }
        )
        watch.ids = ids
        watch.createdCount = createdCount
        watches[id] = watch
        return ServerFrame(
            id: id,
            revision: revision,
            response: .watchPosts(event),
            hasMore: true
        )
    }
}

extension Post {
    /// What an event has of a post that was only voted on.
    fileprivate var onlyNumbers: Post {
        var numbers = Post(id: id)
        numbers.score = score
        numbers.upvoteCount = upvoteCount
        numbers.downvoteCount = downvoteCount
        numbers.revision = revision
        numbers.viewer = viewer
        return numbers
    }
}
