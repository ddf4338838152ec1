package import FeedTransport

/// How a client introduces itself, how long it waits and what it tries again; the defaults suit
/// most programs.
public struct ClientConfiguration: Sendable {
    /// The client's name and version, for the service's logs.
    public var clientName = "feed-client"

    /// The client's identity; without one the client cannot vote where votes are ballots.
    ///
    /// With one, changes take sequences: a change whose answer was lost with its connection is sent
    /// again and executed once. Without one, such a change ends with an unknown effect.
    public var clientID: ClientID?

    /// The channel of the client id on which changes take sequences; nil is a random one.
    ///
    /// Two clients that use one id and one channel at a time shut each other out
    /// (`CHANNEL_FENCED`). Give each a channel of its own, or leave the choice to chance. Further
    /// connections of a client have the numbers after it.
    public var channel: UInt32?

    /// How many connections the client's calls share; each opens with its first call.
    ///
    /// A service takes 256 calls of one connection at a time, and gives each connection to one of its
    /// threads, so many tasks that call at once get more done over a few. Votes and reads take turns.
    /// Other calls leave over the first connection, in the order in which they were made.
    public var connectionCount = 1

    /// A key of the service's `--service-keys`: the client is a service, which may import posts and act
    /// for users; nil is none.
    public var serviceKey: Secret?

    /// How connections are secured; nil sends plain bytes, which is for services on this machine.
    public var tls: ClientTLS?

    /// The contexts of ``tls``, made with the client.
    package var security: ClientSecurity?

    /// The token of a session: the client's calls are those of its user; nil is none.
    ///
    /// Signing in and signing up replace it for later connections, and signing out removes it.
    public var sessionToken: Secret?

    /// Where the session of the client's user is kept for the next launch; nil is nowhere.
    ///
    /// Without a ``sessionToken`` the client shows the token that is kept. Where the service does not know
    /// it any more, the client forgets it and connects as nobody.
    public var sessionStore: (any SessionStore)?

    /// How long a call without a time of its own may take, all its tries included.
    public var timeout = Duration.seconds(5)

    /// How long one try to connect may take, with the answer to Hello.
    public var connectTimeout = Duration.seconds(5)

    /// How long the first answer to Hello may take, all tries included; nil is ``connectTimeout``.
    package var openTimeout: Duration?

    /// Whether the first connection is tried again until ``connectTimeout`` is over.
    ///
    /// By default the first failure is thrown at once, since the address may be wrong.
    public var waitsForService = false

    /// Whether a lost connection is followed by another one.
    ///
    /// Without, the client ends with its first connection, and who keeps sequences beyond the process
    /// sees each Hello.
    package var reconnects = true

    /// How often and how soon the client tries again.
    public var retry = RetryPolicy()

    /// Silence after which the client asks the service for a sign of life.
    ///
    /// A service closes connections that were silent for 90 s, so two of these may be lost.
    public var keepAliveInterval = Duration.seconds(30)

    /// How long the sign of life may take before the connection is given up.
    public var keepAliveTimeout = Duration.seconds(10)

    /// How names of hosts are looked up; another way than the system's is for tests.
    package var hostLookup = HostLookup.system

    /// A configuration with the defaults.
    public init() {}
}
