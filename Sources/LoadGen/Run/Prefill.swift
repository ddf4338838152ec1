import FeedProto

/// Creates the posts of a run in order over one connection, so that a post has the same id in every
/// run on a fresh service.
final class Prefill {
    /// The posts created, by their number; 0 of those without an answer.
    private(set) var ids: [UInt64]
    /// When the first was created, by the service's clock.
    private(set) var startMilliseconds: Int64 = 0

    private let control: ControlConnection
    private let feed: String
    private let postCount: Int
    private let progress: (Int) -> Void
    private let completion: (Prefill, ControlError?) -> Void
    private var sentCount = 0
    private var createdCount = 0
    private var isEnded = false

    /// Prepares to create `postCount` posts in `feed`; `completion` is called once, with this
    /// prefill.
    init(
        _ control: ControlConnection,
        feed: String,
        postCount: Int,
        progress: @escaping (Int) -> Void,
        completion: @escaping (Prefill, ControlError?) -> Void
    ) {
        self.control = control
        self.feed = feed
        self.postCount = postCount
        self.progress = progress
        self.completion = completion
        ids = [UInt64](repeating: 0, count: postCount)
    }

    /// Starts.
    func start() {
        for _ in 0..<min(Self.windowDepth, postCount) { createNext() }
    }

    /// What is known after a broken-off prefill: the posts created, and the titles of those that
    /// may be.
    var partial: (ids: [UInt64], unknownTitles: Set<String>) {
        let unanswered = (0..<sentCount).filter { ids[$0] == 0 }
        return (ids.filter { $0 > 0 }, Set(unanswered.map(Self.title)))
    }

    private static func title(_ number: Int) -> String {
        PostText.title(maker: PostText.prefillMaker, number: number)
    }

    /// Enough to keep the service busy, and a quarter of what it takes in flight.
    private static let windowDepth = 64

    private func createNext() {
        guard sentCount < postCount, !isEnded else { return }
        let number = sentCount
        sentCount += 1
        let post = Post(title: Self.title(number), text: PostText.body)
        control.call(.createPost(CreatePostRequest(feed: feed, post: post))) {
            self.created(number, $0)
        }
    }

    private func created(_ number: Int, _ answer: Result<FeedProto.Response, ControlError>) {
        guard !isEnded else { return }
        switch answer {
        case .success(.post(let post)):
            if number == 0 { startMilliseconds = post.createTimeMilliseconds }
            ids[number] = post.id
            createdCount += 1
            if createdCount % Self.progressStep == 0 { progress(createdCount) }
            createNext()
            if createdCount == postCount { end(nil) }
        case .success: end(.unexpected)
        case .failure(let error): end(error)
        }
    }

    private func end(_ error: ControlError?) {
        isEnded = true
        completion(self, error)
    }

    private static let progressStep = 10_000
}
