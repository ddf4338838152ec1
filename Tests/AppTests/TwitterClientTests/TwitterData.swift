import FeedClient
import FeedProto
import Foundation
import Observation

/// The data side of the Twitter client: a person, and the tweets, the newest on top.
@MainActor @Observable
final class TwitterData {
    private(set) var tweets: [Post] = []
    /// Who is signed in; nil is nobody.
    private(set) var user: User?
    /// What to tell the person; the screen sets it back to nil.
    var message: String?
    /// The tweet that is being written; it stays until it is sent.
    var draft = PostDraft()

    private let client: FeedClient
    /// Behind the newest tweet that is shown.
    private var newer = PageStart.first

    /// The file keeps the person signed in over launches.
    init(
        to address: String,
        sessionPath: String,
        configuration: ClientConfiguration = ClientConfiguration()
    ) throws {
        var configuration = configuration
        configuration.sessionStore = FileSessionStore(path: sessionPath)
        client = try FeedClient(to: address, configuration: configuration)
        user = client.user
    }

    /// Follows who is signed in until its task is cancelled: the `task` of the screen.
    func follow() async {
        for await user in client.userChanges {
            self.user = user
            // A place in a list is its reader's own.
            (tweets, newer) = ([], .first)
            await refresh()
        }
    }

    /// The one form: an address without an account signs up.
    func signIn(email: String, password: String) async {
        await attempt {
            try await client.signIn(email: email, password: password, createsIfMissing: true)
        }
    }

    func signOut() async { await attempt { try await client.signOut() } }

    func send() async {
        await attempt {
            try await client.createPost(draft, in: "tweets")
            draft = PostDraft()
            try await fetchNewer()
        }
    }

    /// Fetches the first tweets, and then those that are newer than the ones shown.
    func refresh() async { await attempt { try await fetchNewer() } }

    private func fetchNewer() async throws {
        var page: Page
        repeat {
            page = try await client.listPosts(in: "tweets", order: .new, from: newer)
            let known = Set(tweets.map(\.id))
            tweets = page.posts.filter { !known.contains($0.id) } + tweets
            if let refresh = page.refresh { newer = .token(refresh) }
        } while page.newerCount > 0
    }

    private func attempt(_ action: () async throws -> Void) async {
        do {
            try await action()
        } catch {
            if !Task.isCancelled { message = error.localizedDescription }
        }
    }
}
