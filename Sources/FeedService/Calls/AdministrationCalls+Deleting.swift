internal import FeedConcurrency
internal import FeedLog
internal import FeedProto
internal import FeedRanking

/// DeletePosts: services and operators delete what one user, device or host has made.
extension AdministrationCalls {
    /// Finds posts by those who made them, some in each call, and deletes them on request.
    func deletePosts(_ request: DeletePostsRequest) throws(Status) -> Answer {
        let wanted = try WantedPosts(request)
        guard request.deletesPosts else { return answer(find(wanted, request) { _ in nil }) }
        guard wanted.namesSomebody else { throw .deletionOfAllPosts }
        return try environment.changeLog.transaction { () throws(Status) -> Answer in
            try environment.admitChange()
            return answer(
                find(wanted, request) { id in
                    try? environment.store.deletePost(id, sink: environment.changeLog).revision
                }
            )
        }
    }

    private struct Found {
        var posts: [FeedProto.PostOrigin] = []
        var next: UInt64 = 0
        var revision: UInt64 = 0
    }

    /// Looks at some ids behind that of the request, and calls `body` with those of wanted posts.
    private func find(
        _ wanted: WantedPosts,
        _ request: DeletePostsRequest,
        _ body: (PostID) -> UInt64?
    ) -> Found {
        let limits = environment.context.limits
        let last = environment.store.highestID
        let limit = limits.maximumDeletedPostCount
        let count = request.limit == 0 ? limit : min(Int(request.limit), limit)
        var found = Found()
        var titleByteCount = 0
        var id = min(request.afterID, last)
        let end =
            last - id > UInt64(limits.correctedIDCount)
            ? id + UInt64(limits.correctedIDCount) : last
        while id < end, found.posts.count < count, titleByteCount < limits.correctedTextByteCount {
            id += 1
            guard let post = self.post(PostID(rawValue: id), wanted) else { continue }
            titleByteCount += post.title.utf8.count
            found.posts.append(post)
            found.revision = max(found.revision, body(PostID(rawValue: id)) ?? 0)
        }
        if id < last { found.next = id }
        return found
    }

    /// A post with its origin; nil where it is not wanted, or is gone.
    private func post(_ id: PostID, _ wanted: WantedPosts) -> FeedProto.PostOrigin? {
        var origin: PostOrigins.Origin?
        if wanted.asksForOrigin {
            origin = environment.context.origins[id]
            guard wanted.takes(origin) else { return nil }
        }
        let creation = environment.store.creation(of: id) { author, time in
            time >= wanted.since && (wanted.author == 0 || wanted.author == author)
        }
        guard let creation else { return nil }
        origin = origin ?? environment.context.origins[id]
        return FeedProto.PostOrigin(
            id: id.rawValue,
            feed: environment.store.policy(of: creation.feed)?.name ?? "",
            title: creation.title,
            createTimeMilliseconds: creation.createTimeMilliseconds,
            authorID: creation.authorID,
            clientID: origin?.device?.bytes ?? [],
            host: origin?.host.hostText ?? ""
        )
    }

    private func answer(_ found: Found) -> Answer {
        let response = DeletePostsResponse(
            posts: found.posts,
            nextAfterID: found.next,
            originsSinceTimeMilliseconds: environment.context.origins.knownSince
        )
        return .response(
            .deletePosts(response),
            revision: max(environment.store.revision, found.revision)
        )
    }
}

/// The posts that a DeletePosts is about.
private struct WantedPosts {
    let author: UInt64
    let device: Device16?
    let host: ClientIdentity?
    let since: Int64

    init(_ request: DeletePostsRequest) throws(Status) {
        author = request.authorID
        since = request.sinceTimeMilliseconds
        if request.clientID.isEmpty {
            device = nil
        } else {
            guard let found = Caller.Device(bytes: request.clientID) else {
                throw .badClientID(request.clientID.count)
            }
            device = Device16(high: found.high, low: found.low)
        }
        let text = request.host
        guard !text.isEmpty else {
            host = nil
            return
        }
        guard let found = ClientIdentity(host: text) else { throw .badHost(text) }
        host = found
    }

    /// Whether the posts are those of somebody, and not all.
    var namesSomebody: Bool { author != 0 || asksForOrigin }

    /// Whether it depends on the device or the host.
    var asksForOrigin: Bool { device != nil || host != nil }

    /// Whether the posts of an origin are wanted.
    func takes(_ origin: PostOrigins.Origin?) -> Bool {
        guard let origin else { return false }
        return (device ?? origin.device) == origin.device && (host ?? origin.host) == origin.host
    }
}

extension Device16 {
    /// The client_id.
    fileprivate var bytes: [UInt8] {
        [high, low].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
        }
    }
}
