internal import FeedDataset
internal import FeedImport
import FeedProto

/// Imports the posts of one file into a feed, a few frames in flight, without their votes.
///
/// The service decides what a post may be: it refuses a frame for one bad post and names it. That
/// post is left out and the others are sent again.
final class PostImport {
    /// The id of each post; 0 of those that were left out.
    private(set) var ids: [UInt64]
    /// The posts that were left out.
    private(set) var leftOut: [LeftOutPost] = []

    private let control: ControlConnection
    private let feed: String
    private let posts: [DatasetPost]
    private let completion: (PostImport, ControlError?) -> Void
    private var nextPost = 0
    private var framesInFlight = 0
    private var isEnded = false

    /// Prepares to import `posts` into `feed`; `completion` is called once, with
    /// this import.
    init(
        _ control: ControlConnection,
        feed: String,
        posts: [DatasetPost],
        completion: @escaping (PostImport, ControlError?) -> Void
    ) {
        self.control = control
        self.feed = feed
        self.posts = posts
        self.completion = completion
        ids = [UInt64](repeating: 0, count: posts.count)
    }

    /// Starts.
    func start() {
        for _ in 0..<ImportBatch.maximumInFlightCount { sendNext() }
        endIfDone()
    }

    private func sendNext() {
        var batch = ImportBatch(votes: .cast)
        var numbers: [Int] = []
        while nextPost < posts.count {
            let post = posts[nextPost]
            let byteCount = ImportBatch.byteCount(post)
            if byteCount > ImportBatch.maximumByteCount {
                let limit = ImportBatch.maximumByteCount
                leftOut.append(
                    .tooLarge(line: post.line, byteCount: byteCount, limitByteCount: limit)
                )
            } else {
                guard batch.hasRoom(for: .post(post)) else { break }
                batch.append(post)
                numbers.append(nextPost)
            }
            nextPost += 1
        }
        send(batch, numbers)
    }

    private func send(_ batch: ImportBatch, _ numbers: [Int]) {
        guard !numbers.isEmpty else { return }
        framesInFlight += 1
        let request = ImportPostsRequest(feed: feed, posts: batch.posts)
        control.call(.importPosts(request)) { self.receive($0, batch, numbers) }
    }

    private func receive(
        _ answer: Result<FeedProto.Response, ControlError>,
        _ batch: ImportBatch,
        _ numbers: [Int]
    ) {
        guard !isEnded else { return }
        framesInFlight -= 1
        switch answer {
        case .success(.importPosts(let response)) where response.ids.count == numbers.count:
            for (number, id) in zip(numbers, response.ids) { ids[number] = id }
            sendNext()
        case .failure(.refused(let status)):
            var (batch, numbers) = (batch, numbers)
            guard let removed = batch.remove(status) else { return end(.refused(status)) }
            leftOut.append(removed.post)
            numbers.remove(at: removed.place)
            if numbers.isEmpty { sendNext() } else { send(batch, numbers) }
        case .success: return end(.unexpected)
        case .failure(let error): return end(error)
        }
        endIfDone()
    }

    private func endIfDone() {
        guard framesInFlight == 0, nextPost == posts.count else { return }
        end(nil)
    }

    private func end(_ error: ControlError?) {
        guard !isEnded else { return }
        isEnded = true
        completion(self, error)
    }
}
