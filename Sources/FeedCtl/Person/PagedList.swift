internal import FeedClient
internal import FeedOffline
internal import FeedProto

/// A list that a person turns the pages of.
protocol PagedList {
    /// Where a page starts.
    associatedtype Place: Sendable

    /// Reads a page; nil is the first.
    func page(at place: Place?) async throws -> TurnedPage<Place>

    /// Votes on a post, and says what has become of the vote.
    func vote(on id: UInt64, _ direction: VoteDirection) async throws -> String

    /// Reads a post and marks it as read.
    func open(_ id: UInt64) async throws -> Post
}

/// A page, and where its neighbours start; nil at the ends of the list.
struct TurnedPage<Place: Sendable>: Sendable {
    let page: Page
    let next: Place?
    let previous: Place?
}

/// A list of the service.
struct ServedList: PagedList {
    let client: FeedClient
    let list: PostList
    let rowCount: Int

    func page(at place: PageToken?) async throws -> TurnedPage<PageToken> {
        let start = place.map(PageStart.token) ?? .first
        let page = try await client.listPosts(list, pageSize: rowCount, from: start)
        return TurnedPage(page: page, next: page.next, previous: page.previous)
    }

    func vote(on id: UInt64, _ direction: VoteDirection) async throws -> String {
        VoteReport(try await client.vote(on: id, direction)).text(.current)
    }

    func open(_ id: UInt64) async throws -> Post {
        let post = try await client.getPost(id)
        try await client.mark([id], as: .read, in: post.feed)
        return post
    }
}

/// A list of the copy on this device, whose changes wait in the outbox.
struct CopiedList: PagedList {
    let copy: OfflineFeed
    let list: PostList
    let rowCount: Int

    func page(at place: OfflineStart?) async throws -> TurnedPage<OfflineStart> {
        let page = try await copy.posts(list, from: place ?? .first, limit: rowCount)
        let total = UInt64(try await copy.postCount(list))
        return TurnedPage(
            page: Page(posts: page.posts, totalSize: total),
            next: page.hasMore ? page.last.map(OfflineStart.after) : nil,
            previous: page.first.map(OfflineStart.before)
        )
    }

    func vote(on id: UInt64, _ direction: VoteDirection) async throws -> String {
        let entry = try await copy.vote(on: id, direction)
        return "The vote waits as entry \(entry.number) for feedctl sync.\n"
    }

    func open(_ id: UInt64) async throws -> Post {
        guard let post = try await copy.post(id) else { throw OfflineError.unknownPost(id) }
        try await copy.mark([id], as: .read)
        return post
    }
}
