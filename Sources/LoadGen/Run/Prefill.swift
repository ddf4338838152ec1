internal import FeedClient
import FeedProto

/// Creates the posts of a run in order over one connection, so that a post has the same id in every
/// run on a fresh service.
struct Prefill: Sendable {
    /// The posts created, in their order.
    private(set) var ids: [UInt64] = []
    /// Titles of posts that calls without an answer may have created.
    private(set) var unknownTitles: Set<String> = []
    /// When the first was created, by the service's clock.
    private(set) var startMilliseconds: Int64 = 0

    /// Creates `count` posts in `feed`; `progress` gets the number of posts created so far.
    ///
    /// After an error, the properties say which posts there are and which there may be.
    mutating func run(
        _ count: Int,
        in feed: String,
        over client: FeedClient,
        progress: (Int) -> Void
    ) async throws {
        var number = 0
        try await FeedClient.pipeline(
            depth: Self.depth,
            next: { () -> Post? in
                guard number < count else { return nil }
                defer { number += 1 }
                let title = PostText.title(maker: PostText.prefillMaker, number: number)
                return Post(title: title, text: PostText.body)
            },
            call: { post in await Creation(of: post, in: feed, over: client) },
            take: { creation in
                try take(creation)
                if ids.count.isMultiple(of: Self.progressStep) { progress(ids.count) }
            }
        )
    }

    private mutating func take(_ creation: Creation) throws {
        switch creation.result {
        case .success(let post):
            if ids.isEmpty { startMilliseconds = post.createTimeMilliseconds }
            ids.append(post.id)
        case .failure(let error):
            if error.effect == .unknown { unknownTitles.insert(creation.title) }
            throw error
        }
    }

    /// Enough to keep the service busy, and half of what it takes in flight.
    private static let depth = 128
    private static let progressStep = 10_000
}

/// A call that creates a post, with its result.
private struct Creation: Sendable {
    let title: String
    let result: Result<Post, FeedClientError>

    init(of post: Post, in feed: String, over client: FeedClient) async {
        title = post.title
        do throws(FeedClientError) {
            result = .success(try await client.createPost(post, in: feed))
        } catch {
            result = .failure(error)
        }
    }
}
