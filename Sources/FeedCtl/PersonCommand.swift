internal import ArgumentParser
package import FeedClient
package import FeedOffline
internal import FeedProto

/// A command of a person, who is known by a profile, and reports the answers.
protocol PersonCommand: AsyncParsableCommand {
    /// Where the service and the profile are.
    var options: PersonOptions { get }

    /// Whether the calls have a password, which may not go to another machine in clear.
    static var hasPassword: Bool { get }

    func perform(_ client: FeedClient) async throws -> any Report
}

extension PersonCommand {
    static var hasPassword: Bool { false }

    func run() async throws { try await answer().print(asJSON: options.json) }

    /// Connects as the person, makes the calls and closes the connection.
    fileprivate func answer() async throws -> any Report {
        if Self.hasPassword { try options.requirePrivacy() }
        return try await options.withClient { client in
            do {
                return try await perform(client)
            } catch let error as FeedClientError {
                throw error.namingSignIn
            }
        }
    }
}

/// The options of the commands for a person: where the service is, and where the person's profile is.
struct PersonOptions: ParsableArguments {
    @OptionGroup var target: TargetOptions

    @OptionGroup var timeout: TimeoutOption

    @Flag(help: "Print JSON for programs.")
    var json = false

    /// Runs the body connected as the device of the profile, with the person's session if there is one.
    func withClient<Value>(_ body: (FeedClient) async throws -> Value) async throws -> Value {
        let settings = try target.settings()
        let profile = try Profile(path: target.folder)
        let sessions = try profile.sessions()
        var configuration = try configuration(profile, settings)
        configuration.sessionStore = try isOwn(settings) ? sessions : nil
        return try await FeedClient.withConnection(to: settings.addresses, configuration, body)
    }

    /// Refuses to send a password to another machine in clear; who says `--no-tls` wants it so.
    func requirePrivacy() throws {
        let settings = try target.settings()
        guard settings.tls != nil || !settings.isReadable else {
            throw ValidationError(
                "--tls: the password would go to \(settings.address) in clear; --no-tls sends it so."
            )
        }
    }

    /// Connects, lets a session begin, and keeps the session and where it was begun in the profile.
    func beginSession(
        _ begin: (FeedClient) async throws -> UserSession
    ) async throws -> UserSession {
        let settings = try target.settings()
        try requirePrivacy()
        let profile = try Profile(path: target.folder)
        let sessions = NewSession(store: try profile.sessions())
        var configuration = try configuration(profile, settings)
        configuration.sessionStore = sessions
        let client = try await FeedClient.connected(to: settings.addresses, configuration)
        // Without `withConnection`: the compiler of Swift 6.3.1 crashes on the closure in a closure.
        let session: UserSession
        do {
            session = try await begin(client)
            try profile.keep(settings)
        } catch {
            await client.close()
            throw error
        }
        await client.close()
        return session
    }

    /// Runs the body with the offline file of the profile, and says whether it had to be begun anew.
    ///
    /// With `connects` the service is going to be asked, which another one's session is not shown to.
    func withOffline<Value>(
        connects: Bool = false,
        _ body: (OfflineFeed) async throws -> Value
    ) async throws -> Value {
        let settings = try target.settings()
        let profile = try Profile(path: target.folder)
        var offline = OfflineConfiguration(path: profile.path + "/offline.db")
        offline.addresses = settings.addresses
        offline.client = try configuration(profile, settings)
        if try !connects || isOwn(settings) { offline.client.sessionStore = try profile.sessions() }
        let feed = try await OfflineFeed.open(offline)
        if let notice = feed.notice { Console.notify("feedctl: \(notice)\n") }
        return try await closing(feed.close) { try await body(feed) }
    }

    /// How a client introduces itself: as the device of the profile, to a service.
    private func configuration(
        _ profile: Profile,
        _ settings: TargetSettings
    ) throws -> ClientConfiguration {
        var configuration = ClientConfiguration(settings, timeout)
        configuration.clientID = try profile.clientID()
        return configuration
    }

    /// Whether the session of the profile is one of this service, as secure as it was begun.
    ///
    /// Another service would get a token that it could use.
    private func isOwn(_ settings: TargetSettings) throws -> Bool {
        let kept = try target.kept
        guard kept.target != nil else { return true }
        return kept.address == settings.address && (kept.tls != true || settings.tls == true)
    }
}

/// Keeps a session that begins, and shows none: the one before may be another service's.
private struct NewSession: SessionStore {
    let store: any SessionStore

    func load() -> StoredSession? { nil }
    func save(_ session: StoredSession) { store.save(session) }
    func remove() {}
}

/// Whether a change may wait in the outbox.
struct QueueOptions: ParsableArguments {
    @Flag(help: "Keep the change for feedctl sync where no service can be reached.")
    fileprivate var queue = false
}

/// A command whose change can wait in the outbox of the profile.
protocol QueueableCommand: PersonCommand {
    var queueing: QueueOptions { get }

    var change: PersonChange { get }
}

enum PersonChange {
    case vote(PostID, VoteDirection)
    case create(PostDraft, feed: String)
    case update(Post, [PostField])
    case delete(PostID)
}

extension QueueableCommand {
    /// Makes the call, or keeps the change if `--queue` says so and no service can be reached.
    func run() async throws {
        do {
            try await answer().print(asJSON: options.json)
        } catch let error as FeedClientError {
            guard error.isUnreachable else { throw error }
            guard queueing.queue else { throw error.namingQueue }
            let entry = try await options.withOffline { try await add(to: $0) }
            try Sentence.queued(entry).print(asJSON: options.json)
        }
    }

    func perform(_ client: FeedClient) async throws -> any Report {
        switch change {
        case .vote(let id, let direction):
            return Sentence.vote(try await client.vote(on: id, direction))
        case .create(let post, let feed):
            return PostReport(try await client.createPost(post, in: feed))
        case .update(let post, let fields):
            return PostReport(try await client.updatePost(post, fields: fields))
        case .delete(let id):
            try await client.deletePost(id)
            return Sentence.deletion(of: id)
        }
    }

    private func add(to feed: OfflineFeed) async throws(OfflineError) -> OutboxEntry {
        switch change {
        case .vote(let id, let direction): try await feed.vote(on: id, direction)
        case .create(let post, let name): try await feed.createPost(post, in: name)
        case .update(let post, let fields): try await feed.updatePost(post, fields: fields)
        case .delete(let id): try await feed.deletePost(id)
        }
    }
}

extension Sentence {
    /// A change that was kept, as the commands with `--queue` report it.
    package static func queued(_ entry: OutboxEntry) -> Sentence {
        Sentence(
            "No service can be reached: the change waits as entry \(entry.number) for feedctl sync.",
            ["entry": entry.number]
        )
    }
}

extension FeedClientError {
    /// The error; if an identity is missing, with the commands that give a person one.
    var namingSignIn: FeedClientError { naming(identityFlags: "feedctl login or feedctl signup") }

    /// Whether nothing was sent, as there is no service at the address.
    package var isUnreachable: Bool {
        switch self {
        case .cannotConnect, .unknownHost: true
        default: false
        }
    }

    /// The error; if nothing was sent, with the flag that keeps the change.
    fileprivate var namingQueue: FeedClientError {
        let hint = " (--queue keeps the change for feedctl sync)"
        return switch self {
        case .cannotConnect(let reason): .cannotConnect(reason: reason + hint)
        case .unknownHost(let name, let reason): .unknownHost(name: name, reason: reason + hint)
        default: self
        }
    }
}
