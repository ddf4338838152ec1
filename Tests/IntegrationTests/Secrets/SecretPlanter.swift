import FeedProto
import FeedTestSupport

/// Gives a service secrets in every call that takes one, right and wrong ones, and in bytes that are no
/// call; notes each of them.
struct SecretPlanter {
    /// All secrets that the service got or gave.
    private(set) var secrets: [PlantedSecret] = []
    /// The first half of a sign-up.
    private(set) var half: (secret: PlantedSecret, socket: TestSocket, rest: [UInt8])
    private let port: UInt16
    /// A service's connection, whose failures are not counted for its host.
    private let client: WireClient
    /// The key that may back up.
    private let operatorKey: [UInt8]
    private var random: SeededGenerator
    private var accountCount = 0

    /// Says Hello with a service key, and sends half of a sign-up on another connection.
    init(port: UInt16, serviceKey: [UInt8], operatorKey: [UInt8], seed: UInt64) throws {
        self.port = port
        self.operatorKey = operatorKey
        random = SeededGenerator(seed: seed)
        client = try WireClient(port: port)
        secrets.append(PlantedSecret("the service key", serviceKey))
        secrets.append(PlantedSecret("the operator's key", operatorKey))
        _ = try client.call(.hello(HelloRequest(serviceKey: serviceKey)))

        let secret = PlantedSecret.password("a password in two halves", &random)
        let frame = try Self.signUp("half@x", secret).encoded(id: 1)
        half = (secret, try TestSocket(port: port), Array(frame.suffix(1)))
        try half.socket.send(frame.dropLast())
        secrets.append(secret)
        try settle()
    }

    /// Waits until the service has gone through an iteration of its one loop.
    func settle() throws {
        for _ in 0..<2 { _ = try client.call(.ping(PingRequest())) }
    }

    /// Makes all calls and waits for their answers, and backs up.
    mutating func plantAll() throws {
        try half.socket.send(half.rest)
        _ = try half.socket.receiveSome(atMost: 1 << 16)
        let (email, password, token) = try plantSignIns()
        try plantRefusals(taking: email)
        try plantSessions(token)
        try plantHellos()
        try plantBadFrames()
        try plantFlood()
        let backer = try WireClient(port: port)
        _ = try backer.call(.hello(HelloRequest(serviceKey: operatorKey)))
        let backup = try backer.call(.backup)
        if let status = backup.status { throw status }
        // The thread that hashes forgets a password when it takes the next one.
        _ = try client.call(Self.signIn(email, password))
        _ = try client.call(.signIn(SignInRequest(email: "no@x", password: "not planted")))
        try settle()
    }

    // MARK: - Calls

    private mutating func plantSignIns() throws -> (String, PlantedSecret, [UInt8]) {
        let password = newPassword("the password of an account")
        let token = try session(client.call(Self.signUp("ann@x", password)))
        try session(client.call(Self.signUp("bob@x", newPassword("a short one", characters: 14))))
        try session(client.call(Self.signIn("ann@x", password)))
        let created = newPassword("a password of create_if_missing")
        try session(client.call(Self.signIn("cy@x", created, creates: true)))
        let wrong = newPassword("a wrong password of create_if_missing")
        _ = try client.call(Self.signIn("cy@x", wrong, creates: true))
        _ = try client.call(Self.signIn("ann@x", newPassword("a wrong password")))
        _ = try client.call(Self.signIn("none@x", newPassword("a password of no account")))
        return ("ann@x", password, token)
    }

    private mutating func plantRefusals(taking email: String) throws {
        let calls = [
            Self.signUp(email, newPassword("a password for a taken e-mail")),
            Self.signUp("no e-mail", newPassword("a password for no e-mail")),
            Self.signUp("a@x", newPassword("a password that is too long", characters: 140)),
            Self.signUp("a@x", newPassword("a password beside a NUL"), name: "a\0b"),
        ]
        for call in calls { _ = try client.call(call) }
        let numbered = newPassword("a password in a call with a sequence")
        _ = try client.call(Self.signUp("b@x", numbered), sequence: 1)
        let unknown = newPassword("a password in an unknown call")
        let frame = RawMessage().field(1, client.nextID()).field(99, unknown.bytes)
        try client.socket.send(frame.framed)
        _ = try client.receive()
    }

    private mutating func plantSessions(_ token: [UInt8]) throws {
        let device = try WireClient(port: port)
        _ = try device.call(.hello(HelloRequest(sessionToken: token)))
        _ = try device.call(.getSession)
        _ = try device.call(.signOut(SignOutRequest()))
        _ = try device.call(.hello(HelloRequest(sessionToken: token)))
        device.socket.close()
    }

    private mutating func plantHellos() throws {
        let stranger = try WireClient(port: port)
        for count in [32, 31, 40, 200_000] {
            let token = newBytes("a wrong token of \(count) bytes", count)
            _ = try stranger.call(.hello(HelloRequest(sessionToken: token)))
            let key = newBytes("a wrong key of \(count) bytes", count)
            _ = try stranger.call(.hello(HelloRequest(serviceKey: key)))
        }
    }

    /// Frames that are none, after which the service reads nothing more.
    private mutating func plantBadFrames() throws {
        let content = { (secret: PlantedSecret) in
            RawMessage().field(1, 1)
                .field(20, RawMessage().field(1, Array("a@x".utf8)).field(2, secret.bytes))
        }
        let group = content(newPassword("a password before a group")).tag(15, wireType: 3)
        let cut = RawMessage().raw(
            content(newPassword("a password in a field that is too long")).bytes.dropLast()
        )
        for frame in [group, cut] {
            let ignored = content(newPassword("a password behind a bad frame"))
            let socket = try TestSocket(port: port)
            try socket.send(frame.framed + ignored.framed)
            _ = try socket.receiveUntilEndOfFile()
        }
        let left = try TestSocket(port: port)
        try left.send(content(newPassword("a password in half a frame")).framed.dropLast())
        try settle()
        left.reset()
        try settle()
    }

    /// More sign-ins at once than wait to be hashed.
    private mutating func plantFlood() throws {
        let count = 40
        for number in 0..<count {
            try client.send(Self.signIn("\(number)@x", newPassword("password \(number) of many")))
        }
        for _ in 0..<count { _ = try client.receive() }
    }

    // MARK: - Secrets

    private mutating func newPassword(_ name: String, characters: Int = 40) -> PlantedSecret {
        let secret = PlantedSecret.password(name, characterCount: characters, &random)
        secrets.append(secret)
        return secret
    }

    private mutating func newBytes(_ name: String, _ count: Int) -> [UInt8] {
        let bytes = random.bytes(count)
        // The end of a long text is looked for: the test is slow enough.
        secrets.append(PlantedSecret(name, bytes, range: max(0, count - 40)..<count))
        return bytes
    }

    /// Notes the token of an answer.
    @discardableResult
    private mutating func session(_ answer: ServerFrame) throws -> [UInt8] {
        guard case .session(let session) = answer.response else {
            throw answer.status ?? Status(code: .unknown, reason: .internal, message: "No session.")
        }
        accountCount += 1
        secrets.append(PlantedSecret("token \(accountCount)", session.token))
        return session.token
    }

    private static func signUp(
        _ email: String,
        _ secret: PlantedSecret,
        name: String = ""
    ) -> Request {
        .signUp(SignUpRequest(email: email, password: SecretText(secret.text), displayName: name))
    }

    private static func signIn(
        _ email: String,
        _ secret: PlantedSecret,
        creates: Bool = false
    ) -> Request {
        let password = SecretText(secret.text)
        return .signIn(SignInRequest(email: email, password: password, createsIfMissing: creates))
    }
}

extension Request {
    /// The bytes of the request's frame.
    fileprivate func encoded(id: UInt64) throws -> [UInt8] {
        try ClientFrame(id: id, request: self).encoded()
    }
}
