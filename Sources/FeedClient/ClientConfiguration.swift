package import FeedClientTransport
package import FeedNetwork

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
    package var security: ClientSecurity<Transport.Security>?

    /// The token of a session: the client's calls are those of its user; nil is none.
    ///
    /// Signing in and signing up replace it for later connections, and signing out removes it.
    public var sessionToken: Secret?

    /// Where the session of the client's user is kept for the next launch; nil is nowhere.
    ///
    /// Without a ``sessionToken`` the client shows the token that is kept. If the service does not know
    /// it any more, the client forgets it and connects as nobody.
    public var sessionStore: (any SessionStore)?

    /// How long a call without a time of its own may take, all its tries included.
    public var timeout = Duration.seconds(5)

    /// How long one try to connect may take, with the answer to Hello.
    public var connectTimeout = Duration.seconds(5)

    /// Which services of a cluster are asked; others than the leader may show an older state.
    public var reads = ReadPlace.leader

    /// Whether the members of a cluster that a service names are not connected to.
    package var staysAtAddresses = false

    /// How long a service of a cluster may be silent while calls wait, before another one is asked.
    package var silence = Duration.seconds(1)

    /// How long the first answer to Hello may take, all tries included; nil is ``connectTimeout``.
    package var openTimeout: Duration?

    /// Whether what the first answer to Hello took is a part of the first call's time.
    package var firstCallWaitsForOpening = false

    /// Whether the first connection is tried again until ``connectTimeout`` is over.
    ///
    /// By default the first failure is thrown at once, since the address may be wrong.
    public var waitsForService = false

    /// What is told, on the client's thread, that calls wait for the next try to connect, and why the one
    /// before ended; it may be told so several times for one wait.
    package var whenWaiting: (@Sendable (FeedClientError) -> Void)?

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

/// Where a client reads, if the service is a cluster.
public enum ReadPlace: Sendable, Hashable {
    /// At the leader, whose answers show each change that was answered before.
    case leader
    /// At the first service that is reached, also a follower, whose state may be some seconds old.
    ///
    /// The first change moves the client to the leader.
    case any
}

/// How often and how soon a client tries again; the defaults suit most programs.
///
/// The waits between tries are random between zero and a limit that doubles with each failed try
/// ("full jitter"), so that many clients that lost one service do not return together.
public struct RetryPolicy: Sendable, Hashable {
    /// How often one call is sent at most, the first time included; at least 1.
    ///
    /// Tries to connect are not counted: a call waits for a connection until its deadline.
    public var maximumAttemptCount = 4

    /// The limit of the first wait, in a time of at least 1 ms.
    public var baseDelay = Duration.milliseconds(50)

    /// The most that the limit of a wait grows to.
    ///
    /// A service that advises a longer wait is obeyed.
    public var maximumDelay = Duration.seconds(2)

    /// How many calls may be sent again for each call that is sent first: 0.1 is one in ten.
    ///
    /// It bounds the load that retries add to a service that refuses many calls.
    public var budgetRatio = 0.1

    /// How many calls may be sent again at once after a time without retries.
    ///
    /// The default covers all calls that one lost connection may have in flight.
    public var budgetBurst = 256

    /// The most failed connections in a row, none of which answered a call, before all calls end;
    /// by default each call ends at its own deadline.
    package var maximumRoundCount = Int.max

    /// A policy with the defaults.
    public init() {}

    /// The policy that sends every call once.
    public static var never: Self {
        var policy = Self()
        policy.maximumAttemptCount = 1
        return policy
    }
}

/// How a client secures its connections: TLS 1.3, with a check of the service's certificate.
///
/// ```swift
/// var configuration = ClientConfiguration()
/// configuration.tls = ClientTLS(authorityPath: "/etc/feed/ca.pem")
/// let client = try await FeedClient.connect(to: "feed.example.org:7434", configuration: configuration)
/// ```
///
/// An app that brings the certificate with it takes ``authority`` in place of the path.
///
/// All files are PEM. A client reads them when it is made, and a file that it cannot use is an error then.
public struct ClientTLS: Sendable, Equatable {
    /// The certificates that vouch for the service's; nil takes those of the system.
    public var authorityPath: String?

    /// The same certificates in PEM, for programs that have them in memory; nil reads ``authorityPath``.
    public var authority: [UInt8]?

    /// The client's own certificate, for services that ask for one (`--tls-client-ca`); nil is none.
    ///
    /// It goes with a ``keyPath``.
    public var certificatePath: String?

    /// The private key of the certificate, which only its owner may read.
    public var keyPath: String?

    /// The name or the address that the service's certificate must have; nil is the host as the address
    /// of the service has it.
    public var serverName: String?

    /// TLS with these files.
    public init(
        authorityPath: String? = nil,
        certificatePath: String? = nil,
        keyPath: String? = nil,
        serverName: String? = nil
    ) {
        self.authorityPath = authorityPath
        self.certificatePath = certificatePath
        self.keyPath = keyPath
        self.serverName = serverName
    }
}

/// The TLS of a client: one context for all of its connections, and the names that are checked.
package struct ClientSecurity<Context: TransportSecurity>: Sendable {
    package let context: Context
    private let serverName: String?
    private let hosts: [Endpoint: String]

    /// Reads the files of a client's TLS; `hosts` are those of the services, as the program has written them.
    package init(_ tls: ClientTLS, hosts: [Endpoint: String] = [:]) throws(FeedClientError) {
        var certificate: TLSCertificateFiles?
        switch (tls.certificatePath, tls.keyPath) {
        case (let path?, let key?):
            certificate = TLSCertificateFiles(certificatePath: path, keyPath: key)
        case (nil, nil): break
        default:
            throw .cannotConnect(reason: "A client's certificate and its key go together.")
        }
        var files = TLSClientFiles(authorityPath: tls.authorityPath, certificate: certificate)
        if let authority = tls.authority { files.authority = .pem(authority) }
        do throws(TLSFileError) {
            context = try .client(files)
        } catch {
            throw .cannotConnect(reason: error.description)
        }
        serverName = tls.serverName
        self.hosts = hosts
    }

    package func target(for endpoint: Endpoint) -> Context.Target {
        let host =
            switch endpoint {
            case .address(let address): hosts[endpoint] ?? address.hostText
            case .name(let name, _): hosts[endpoint] ?? name
            }
        return context.target(host: serverName ?? host)
    }
}
