import FeedClient
import FeedOffline
import FeedProto
import Foundation
import Observation

/// The data side of the Reddit app: a copy of the posts on the phone, which needs no network.
@MainActor @Observable
final class RedditAppData {
    /// Posts of the list, in the order in which they were read; they change in place.
    private(set) var rows: [Post] = []
    private(set) var unreadCount = 0
    /// What to tell the person; the screen sets it back to nil.
    var message: String?

    let feed: OfflineFeed
    /// For the sign-in; it connects with its first call.
    private let client: FeedClient
    private let images: ImageCache
    private var list = PostList(feed: "posts", order: .hot)
    private var last: OfflinePlace?

    init(_ configuration: OfflineConfiguration, images: ImageCache) async throws {
        feed = try await OfflineFeed.open(configuration)
        var device = configuration.client
        device.clientID = try await feed.clientID()
        client = try FeedClient(to: configuration.addresses, configuration: device)
        self.images = images
        message = feed.notice?.description
    }

    /// Who is signed in; nil is nobody.
    var user: User? { client.user }

    /// Lets rows follow their changes until its task is cancelled: the `task` of the screen.
    func follow() async {
        for await _ in feed.changes {
            for id in rows.map(\.id) {
                let post = try? await feed.post(id)
                guard let row = rows.firstIndex(where: { $0.id == id }) else { continue }
                if let post { rows[row] = post } else { rows.remove(at: row) }
            }
        }
    }

    /// Shows the first rows of a list.
    func show(_ list: PostList) async {
        await attempt {
            let page = try await feed.posts(list)
            (self.list, rows, last) = (list, page.posts, page.last)
            unreadCount = try await feed.postCount(PostList(feed: list.feed, unreadOnly: true))
        }
    }

    func showMore() async {
        await attempt {
            let page = try await feed.posts(list, from: last.map(OfflineStart.after) ?? .first)
            rows += page.posts
            last = page.last ?? last
        }
    }

    /// Sends what waits and brings the copy up to date: at the launch, when the network comes, now and then.
    func sync() async {
        await attempt {
            try await feed.sync()
            for entry in try await feed.outbox() {
                guard let reason = entry.reason else { continue }
                message = reason.text
                try await feed.drop(entry.number)
            }
        }
    }

    /// Shows what is new, as pulling the list does.
    func refresh() async {
        await sync()
        await show(list)
    }

    func write(_ draft: PostDraft) async {
        await change { try await feed.createPost(draft, in: list.feed) }
    }

    /// The ballot of the person, or else of the phone; `.clear` takes it back.
    func vote(on post: Post, _ direction: VoteDirection) async {
        await attempt { try await feed.vote(on: post.id, direction) }
    }

    /// Marks a post as read, unread, dismissed or restored.
    func mark(_ post: Post, as mark: Mark) async {
        await change { try await feed.mark([post.id], as: mark) }
    }

    /// Marks the whole feed.
    func markAll(as mark: Mark) async {
        await change {
            let all = PostList(feed: list.feed, order: .new, includesDismissed: true)
            guard let newest = try await feed.posts(all, limit: 1).posts.first else { return }
            try await feed.mark(through: newest.id, as: mark, in: list.feed)
        }
    }

    /// The one form: an address without an account signs up.
    func signIn(email: String, password: String) async {
        await change {
            try await client.signIn(email: email, password: password, createsIfMissing: true)
            try await feed.sync()
        }
    }

    func signOut() async {
        await attempt { try await client.signOut() }
        await refresh()
    }

    /// The thumbnail; nil if the post has none, or it cannot be loaded.
    func thumbnail(of post: Post) async -> [UInt8]? { try? await images.image(post.thumbnailURL) }

    /// Makes a change and shows the list as it is then.
    private func change(_ action: () async throws -> Void) async {
        await attempt(action)
        await show(list)
    }

    private func attempt(_ action: () async throws -> Void) async {
        do {
            try await action()
        } catch {
            if !Task.isCancelled { message = error.localizedDescription }
        }
    }
}
