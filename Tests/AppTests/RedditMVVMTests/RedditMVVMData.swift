import FeedClient
import FeedProto
import Foundation
import Observation

/// The data side of reddit (MVVM): a repository of posts, and the list that its screen shows.
@MainActor @Observable
final class RedditMVVMData {
    /// The top 20 as they were last sorted, with the counts of now.
    private(set) var rows: [Post] = []
    /// How many posts have come since.
    private(set) var newPostCount: UInt64 = 0
    /// What to tell the person; the screen sets it back to nil.
    var message: String?

    private let client: any FeedWatching
    private let top: WatchSequence
    private var isSortingAnew = false

    init(_ client: any FeedWatching) {
        self.client = client
        top = client.observe(PostList(feed: "posts", order: .top), limit: 20)
    }

    /// Keeps the list up to date until its task is cancelled: the `task` of the screen.
    func follow() async {
        await attempt {
            while !Task.isCancelled {
                isSortingAnew = false
                for try await posts in top {
                    // A watch that begins anew has each change that was answered before.
                    if isSortingAnew { break }
                    (rows, newPostCount) = (posts.rows, posts.newPostCount)
                }
            }
        }
    }

    /// Sorts the list anew, as pulling it does.
    func refresh() {
        isSortingAnew = true
        top.refresh()
    }

    func find(_ id: PostID) async -> Post? { await attempt { try await client.getPost(id) } }

    @discardableResult
    func add(title: String, text: String = "") async -> Post? {
        await attempt {
            let post = try await client.createPost(PostDraft(title: title, text: text), in: "posts")
            refresh()
            return post
        }
    }

    /// Edits a post as it was shown; who was slower than somebody else is told so.
    @discardableResult
    func update(_ post: Post, _ edit: (inout PostDraft) -> Void) async -> Post? {
        await attempt { try await client.editPost(post, edit) }
    }

    func delete(_ post: Post) async {
        await attempt {
            try await client.deletePost(post.id)
            refresh()
        }
    }

    /// Each press of the button counts.
    func vote(on post: Post, _ direction: VoteDirection) async {
        await attempt { try await client.vote(on: post.id, direction) }
    }

    @discardableResult
    private func attempt<Value>(_ action: () async throws -> Value) async -> Value? {
        do {
            return try await action()
        } catch {
            if !Task.isCancelled { message = error.localizedDescription }
            return nil
        }
    }
}
