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
            next: { () -> [Post]? in
                let numbers = number..<min(number + Self.callsPerTask, count)
                guard !numbers.isEmpty else { return nil }
                number = numbers.upperBound
                return numbers.map {
                    let title = PostText.title(maker: PostText.prefillMaker, number: $0)
                    return Post(title: title, text: PostText.body)
                }
            },
            call: { posts in (posts, await client.createPosts(posts, in: feed)) },
            take: { posts, results in try take(posts, results, progress) }
        )
    }

    /// Takes the results of all calls of a task; throws the first failure.
    private mutating func take(
        _ posts: [Post],
        _ results: [Result<Post, FeedClientError>],
        _ progress: (Int) -> Void
    ) throws {
        var failure: FeedClientError?
        for (post, result) in zip(posts, results) {
            switch result {
            case .success(let created):
                if ids.isEmpty { startMilliseconds = created.createTimeMilliseconds }
                ids.append(created.id)
                if ids.count.isMultiple(of: Self.progressStep) { progress(ids.count) }
            case .failure(let error):
                if error.effect == .unknown { unknownTitles.insert(post.title) }
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// Calls that one task makes and waits for.
    private static let callsPerTask = 32
    /// With ``callsPerTask``, 128 calls in flight: enough to keep the service busy, and half of
    /// what it takes.
    private static let depth = 4
    private static let progressStep = 10_000
}
