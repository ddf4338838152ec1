internal import FeedDataset
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
        for _ in 0..<Self.framesAtOnce { sendNext() }
        endIfDone()
    }

    /// The most posts that the protocol allows in a frame.
    private static let postsPerFrame = 256
    /// Enough to keep the service busy while answers are on their way.
    private static let framesAtOnce = 4
    /// The most bytes of a frame's posts; they leave room for one more post of the usual size.
    private static let frameByteLimit = 512 << 10
    /// A post's numbers and tags, and the bytes that lengths take.
    private static let postOverheadByteCount = 128

    private func sendNext() {
        var numbers: [Int] = []
        var byteCount = 0
        while nextPost < posts.count, numbers.count < Self.postsPerFrame {
            let size = Self.byteCount(posts[nextPost])
            if size > Self.frameByteLimit {
                leaveOutOversized(nextPost, size)
            } else {
                byteCount += size
                guard byteCount <= Self.frameByteLimit else { break }
                numbers.append(nextPost)
            }
            nextPost += 1
        }
        send(numbers)
    }

    private func send(_ numbers: [Int]) {
        guard !numbers.isEmpty else { return }
        framesInFlight += 1
        let request = ImportPostsRequest(feed: feed, posts: numbers.map { Post(posts[$0]) })
        control.call(.importPosts(request)) { self.receive($0, numbers) }
    }

    private func receive(_ answer: Result<FeedProto.Response, ControlError>, _ numbers: [Int]) {
        guard !isEnded else { return }
        framesInFlight -= 1
        switch answer {
        case .success(.importPosts(let response)) where response.ids.count == numbers.count:
            for (number, id) in zip(numbers, response.ids) { ids[number] = id }
            sendNext()
        case .failure(.refused(let status)):
            guard let place = leaveOut(status, numbers) else { return end(.refused(status)) }
            var rest = numbers
            rest.remove(at: place)
            if rest.isEmpty { sendNext() } else { send(rest) }
        case .success: return end(.unexpected)
        case .failure(let error): return end(error)
        }
        endIfDone()
    }

    /// Leaves out the post that a refusal names; returns its place in the frame, or nil where the
    /// refusal names no post.
    private func leaveOut(_ status: Status, _ numbers: [Int]) -> Int? {
        guard let violation = status.violations.first,
            let path = violation.field.wholeMatch(of: /posts\[(\d+)\]\.(.+)/),
            let place = Int(path.1), place < numbers.count
        else { return nil }
        leftOut.append(
            LeftOutPost(
                line: posts[numbers[place]].line,
                field: String(path.2),
                reason: violation.reason.rawValue,
                actual: violation.actual,
                limit: violation.limit,
                message: status.message.replacing(violation.field, with: path.2)
            )
        )
        return place
    }

    private func leaveOutOversized(_ number: Int, _ byteCount: Int) {
        leftOut.append(
            LeftOutPost(
                line: posts[number].line,
                field: "post",
                reason: Reason.textTooLong.rawValue,
                actual: UInt64(byteCount),
                limit: UInt64(Self.frameByteLimit),
                message: "The post has \(byteCount) bytes; the limit is \(Self.frameByteLimit)."
            )
        )
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

    private static func byteCount(_ post: DatasetPost) -> Int {
        post.title.utf8.count + post.text.utf8.count + post.linkURL.utf8.count
            + post.thumbnailURL.utf8.count + post.authorName.utf8.count + postOverheadByteCount
    }
}
