import FeedClient
import FeedProto
import Foundation
import Observation

/// The data side of CLReddit: one list of posts with votes.
@MainActor @Observable
final class CLRedditData {
    /// The 20 best posts, in the order of the last reload, with the counts of now.
    private(set) var rows: [Post] = []
    /// What to tell the person; the screen sets it back to nil.
    var message: String?

    private let client: any FeedWatching
    private let top: WatchSequence
    private var isReloading = false

    init(_ client: any FeedWatching) {
        self.client = client
        top = client.observe(PostList(feed: "posts", order: .top), limit: 20)
    }

    /// Keeps the rows up to date until its task is cancelled: the `task` of the screen.
    func follow() async {
        await attempt {
            while !Task.isCancelled {
                isReloading = false
                for try await posts in top {
                    // A watch that begins anew has each change that was answered before.
                    if isReloading { break }
                    rows = posts.rows
                }
            }
        }
    }

    /// Sorts the rows anew.
    func reload() {
        isReloading = true
        top.refresh()
    }

    func add(title: String) async {
        await attempt {
            try await client.createPost(PostDraft(title: title), in: "posts")
            reload()
        }
    }

    func vote(on post: Post, _ direction: VoteDirection) async {
        await attempt { try await client.vote(on: post.id, direction) }
    }

    private func attempt(_ action: () async throws -> Void) async {
        do {
            try await action()
        } catch {
            if !Task.isCancelled { message = error.localizedDescription }
        }
    }
}
