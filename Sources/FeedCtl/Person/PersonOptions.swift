internal import ArgumentParser
internal import FeedClient
internal import FeedProto

/// The options of the commands for a person: where the service is, and where the person's profile is.
struct PersonOptions: ParsableArguments {
    @OptionGroup var target: TargetOptions

    @OptionGroup var timeout: TimeoutOption

    @Flag(help: "Print JSON for programs.")
    var json = false

    /// Connects as the device of the profile, with the person's session if there is one.
    func connect() async throws -> FeedClient {
        let settings = try target.settings()
        let profile = try Profile(path: target.folder)
        let sessions = try profile.sessions()
        return try await connect(profile, settings, isOwn(settings) ? sessions : nil)
    }

    /// Connects, lets a session begin, and keeps the session and where it was begun in the profile.
    func beginSession(
        _ begin: (FeedClient) async throws -> UserSession
    ) async throws -> UserSession {
        let settings = try target.settings()
        // Who says `--no-tls` wants it so.
        guard settings.tls != nil || !settings.isReadable else {
            throw ValidationError(
                "--tls: the password would go to \(settings.address) in clear; --no-tls sends it so."
            )
        }
        let profile = try Profile(path: target.folder)
        let sessions = NewSession(store: try profile.sessions())
        let client = try await connect(profile, settings, sessions)
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

    /// How a client introduces itself: as the device of the profile, to a service.
    func configuration(
        _ profile: Profile,
        _ settings: TargetSettings
    ) throws -> ClientConfiguration {
        var configuration = ClientConfiguration()
        configuration.clientName = "feedctl"
        configuration.clientID = try profile.clientID()
        configuration.tls = settings.security
        configuration.timeout = timeout.duration()
        configuration.connectTimeout = configuration.timeout
        return configuration
    }

    /// Whether the session of the profile is one of this service, as secure as it was begun.
    ///
    /// Another service would get a token that it could use.
    func isOwn(_ settings: TargetSettings) throws -> Bool {
        let kept = try target.kept
        guard kept.target != nil else { return true }
        return kept.address == settings.address && (kept.tls != true || settings.tls == true)
    }

    private func connect(
        _ profile: Profile,
        _ settings: TargetSettings,
        _ sessions: (any SessionStore)?
    ) async throws -> FeedClient {
        var configuration = try configuration(profile, settings)
        configuration.sessionStore = sessions
        return try await FeedClient.connect(naming: settings.address, configuration)
    }
}

/// Keeps a session that begins, and shows none: the one before may be another service's.
private struct NewSession: SessionStore {
    let store: any SessionStore

    func load() -> StoredSession? { nil }
    func save(_ session: StoredSession) { store.save(session) }
    func remove() {}
}
