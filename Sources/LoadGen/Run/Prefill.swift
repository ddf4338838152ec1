import FeedProto

/// Creates the posts of a run in order over one connection, so that on a fresh service the same
/// post has the same id in every run.
final class Prefill {
    /// The posts created, by their number.
    private(set) var ids: [UInt64] = []
    /// When the first was created, by the service's clock.
    private(set) var startMilliseconds: Int64 = 0

    private let control: ControlConnection
    private let feed: String
    private let postCount: Int
    private let progress: (Int) -> Void
    private let completion: (ControlError?) -> Void
    private var sentCount = 0
    private var isEnded = false

    /// Prepares to create `postCount` posts in `feed`; `completion` is called once.
    init(
        _ control: ControlConnection,
        feed: String,
        postCount: Int,
        progress: @escaping (Int) -> Void,
        completion: @escaping (ControlError?) -> Void
    ) {
        self.control = control
        self.feed = feed
        self.postCount = postCount
        self.progress = progress
        self.completion = completion
        ids.reserveCapacity(postCount)
    }

    /// Starts.
    func start() {
        for _ in 0..<min(Self.windowDepth, postCount) { createNext() }
    }

    /// Enough to keep the service busy, and a quarter of what it takes in flight.
    private static let windowDepth = 64

    private func createNext() {
        guard sentCount < postCount, !isEnded else { return }
        let title = PostText.title(maker: PostText.prefillMaker, number: sentCount)
        sentCount += 1
        let post = Post(title: title, text: PostText.body)
        control.call(.createPost(CreatePostRequest(feed: feed, post: post))) { self.created($0) }
    }

    private func created(_ answer: Result<FeedProto.Response, ControlError>) {
        guard !isEnded else { return }
        switch answer {
        case .success(.post(let post)):
            if ids.isEmpty { startMilliseconds = post.createTimeMilliseconds }
            ids.append(post.id)
            if ids.count % Self.progressStep == 0 { progress(ids.count) }
            createNext()
            if ids.count == postCount { end(nil) }
        case .success: end(.unexpected)
        case .failure(let error): end(error)
        }
    }

    private func end(_ error: ControlError?) {
        isEnded = true
        completion(error)
    }

    private static let progressStep = 10_000
}
