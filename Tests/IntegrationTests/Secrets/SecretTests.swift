import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// Passwords, tokens and keys are in no line of the log, no file, no backup, and no longer in memory
/// once their calls are answered.
@Suite(.timeLimit(.minutes(10))) struct SecretTests {
    @Test(
        "T-AUTH-10: nothing shows a secret after its call",
        arguments: TestEnvironment.seeds(1...1)
    )
    func nothingShowsASecretAfterItsCall(seed: UInt64) async throws {
        let directory = try TemporaryDirectory()
        let key = try await Self.makeKey("service", in: directory)
        let operatorKey = try await Self.makeKey("operator", in: directory)
        let data = "\(directory.path)/data"
        let arguments = ["--threads", "1", "--service-keys", "\(directory.path)/keys"]
        let service = try await DurableService.start(data, arguments)
        let process = service.process

        let (secrets, found) = try await offload {
            var planter = try SecretPlanter(
                port: service.port,
                serviceKey: key,
                operatorKey: operatorKey,
                seed: seed
            )
            // What is looked for is found where it is: the service waits for the rest of a frame.
            process.signal(SIGSTOP)
            let half = try Self.names(of: [planter.half.secret], inMemoryOf: process.id)
            process.signal(SIGCONT)
            #expect(!half.isEmpty, "seed \(seed)")

            try planter.plantAll()
            return (planter.secrets, try Self.names(of: planter.secrets, inMemoryOf: process.id))
        }
        #expect(found.isEmpty, "seed \(seed)")
        #expect(await service.stop() == 0)
        #expect(try Self.names(of: secrets, inFilesOf: data) == [], "seed \(seed)")
        let lines = Array(process.output.joined(separator: "\n").utf8)
        #expect(SecretSearch(secrets, \.spellings).names(in: lines) == [], "seed \(seed)")
    }

    /// A copy leaves its last 64 to 512 bytes in vector registers, which are saved on the stack by what binds
    /// a function at its first call: a service that has just started has called few.
    @Test(
        "T-AUTH-10: the end of a long secret is not left on a stack",
        arguments: [300, 600, 1500]
    )
    func noStackKeepsTheEndOfALongSecret(lastByteCount: Int) async throws {
        let directory = try TemporaryDirectory()
        let service = try await DurableService.start(directory.path, ["--threads", "1"])
        let id = service.process.id
        let found = try await offload {
            var random = SeededGenerator(seed: UInt64(lastByteCount))
            let bytes = random.bytes(200_000)
            let firstCount = bytes.count - lastByteCount
            let first = PlantedSecret("the beginning", bytes, range: firstCount - 40..<firstCount)
            let end = PlantedSecret("the end", bytes, range: bytes.count - 40..<bytes.count)
            // A refusal writes over less of the stack than an answer.
            let hello = HelloRequest(protocolVersion: 99, serviceKey: bytes)
            let frame = try Request.hello(hello).encoded(id: 1)
            let socket = try TestSocket(port: service.port)
            try socket.send(frame.dropLast(lastByteCount))
            // The end is read by itself once the service has the rest; a call would bind functions.
            while try Self.names(of: [first], inMemoryOf: id).isEmpty {
                try Task.checkCancellation()
            }
            try socket.send(frame.suffix(lastByteCount))
            _ = try socket.receiveSome(atMost: 1 << 16)
            // A loop overwrites what it has read before it waits, so soon after the answer; a stack stays.
            var found: Set<String> = ["not looked"]
            for _ in 0..<10 where !found.isEmpty {
                found = try Self.names(of: [first, end], inMemoryOf: id)
            }
            return found
        }
        #expect(found.isEmpty)
        #expect(await service.stop() == 0)
    }

    /// What the account and its posts had is in no file once the journal has gone on, and in no line.
    @Test("T-AUTH-18: no file and no line keeps what a deleted account had")
    func nothingIsLeftOfADeletedAccount() async throws {
        let directory = try TemporaryDirectory()
        let data = "\(directory.path)/data"
        let service = try await DurableService.start(
            data,
            ["--threads", "2", "--fold-bytes", "20000"]
        )
        let port = service.port
        // The only hash of a password is this account's.
        let marks = ["gone-mail@x", "Gone Person", "$argon2id$", "Gone title", "Gone text"]
        let (mail, password) = (marks[0], SecretText("a password"))
        let other = try await service.call { client in
            let signUp = SignUpRequest(email: mail, password: password, displayName: marks[1])
            if let status = try client.call(.signUp(signUp)).status { throw status }
            let post = Post(title: marks[3], text: marks[4])
            let posted = try client.call(.createPost(CreatePostRequest(post: post)))
            if let status = posted.status { throw status }
            return try WireClient(port: port).createPost(title: "another post")
        }
        #expect(try await Self.marks(marks, in: data) == Set(marks))
        try await service.call { client in
            _ = try client.call(.signIn(SignInRequest(email: mail, password: password)))
            let delete = DeleteAccountRequest(password: password)
            if let status = try client.call(.deleteAccount(delete)).status { throw status }
            while try client.call(.getPost(GetPostRequest(id: 1))).status == nil {}
        }
        // Two checkpoints, and the records after which a segment ends that has something to erase.
        var roundCount = 0
        while roundCount < 40, try await !Self.marks(marks, in: data).isEmpty {
            roundCount += 1
            try await service.call { client in
                for _ in 0..<100 { _ = try client.vote(other) }
            }
        }
        #expect(try await Self.marks(marks, in: data) == [])
        #expect(await service.stop() == 0)
        #expect(try await Self.marks(marks, in: data) == [])
        let lines = service.process.output.joined(separator: "\n")
        #expect(marks.filter { lines.contains($0) } == [])
    }

    /// The marks that a file of a directory has.
    private static func marks(_ marks: [String], in directory: String) async throws -> Set<String> {
        var found: Set<String> = []
        for mark in marks {
            let words = ["-rqaF", "-e", mark, directory]
            // 2 is a file that is gone meanwhile, without one that has it.
            if try await RunningProcess(URL(filePath: "/usr/bin/grep"), words).finish().0 == 0 {
                found.insert(mark)
            }
        }
        return found
    }

    /// Makes a key of a role, with the role's name, and adds its line to the service's file.
    private static func makeKey(
        _ role: String,
        in directory: TemporaryDirectory
    ) async throws -> [UInt8] {
        let path = "\(directory.path)/\(role).key"
        let process = try RunningProcess(
            Programs.feedService,
            ["new-service-key", role, path, "--role", role]
        )
        let (status, output) = await process.finish()
        try #require(status == 0, "\(output)")
        let line = try #require(output.first { $0.hasPrefix("\(role) blake2b:") })
        let file = "\(directory.path)/keys"
        let others = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        try Data("\(others)\(line)\n".utf8).write(to: URL(filePath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        let digits = try String(contentsOfFile: path, encoding: .utf8).prefix { $0.isHexDigit }
        return stride(from: 0, to: digits.count, by: 2).compactMap { offset in
            let start = digits.index(digits.startIndex, offsetBy: offset)
            return UInt8(digits[start..<digits.index(start, offsetBy: 2)], radix: 16)
        }
    }

    private static func names(
        of secrets: [PlantedSecret],
        inMemoryOf process: Int32
    ) throws -> Set<String> {
        let search = SecretSearch(secrets, \.spellings)
        var found: Set<String> = []
        try ProcessMemory(of: process).visit { bytes, place in
            for name in search.names(in: bytes) { found.insert("\(name), \(place)") }
        }
        return found
    }

    /// The secrets that are in the files of a directory and in its folders, and where.
    private static func names(
        of secrets: [PlantedSecret],
        inFilesOf directory: String
    ) throws -> Set<String> {
        let search = SecretSearch(secrets, \.spellings)
        var found: Set<String> = []
        for name in try FileManager.default.subpathsOfDirectory(atPath: directory) {
            guard let bytes = FileManager.default.contents(atPath: "\(directory)/\(name)") else {
                continue
            }
            for secret in search.names(in: [UInt8](bytes)) { found.insert("\(secret), \(name)") }
        }
        return found
    }
}

/// A secret that a test gives to a service, and that nothing may show afterwards.
struct PlantedSecret: Sendable {
    /// What was planted, for the message of a failure.
    let name: String
    let bytes: [UInt8]
    let range: Range<Int>

    private static let partByteCount = 12

    /// A secret whose parts are unlike anything else.
    ///
    /// - Parameters:
    ///   - name: What is planted.
    ///   - bytes: Where it is planted.
    ///   - range: The random part of the bytes; nil is all.
    init(_ name: String, _ bytes: [UInt8], range: Range<Int>? = nil) {
        self.name = name
        self.bytes = bytes
        self.range = range ?? bytes.indices
    }

    static func password(
        _ name: String,
        characterCount: Int = 40,
        _ random: inout SeededGenerator
    ) -> PlantedSecret {
        let letters = Array("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789".utf8)
        return PlantedSecret(
            name,
            (0..<characterCount).map { _ in letters[Int.random(in: letters.indices, using: &random)]
            }
        )
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// What is looked for in memory: its parts, as the allocator writes over the first bytes of freed
    /// memory and leaves the others.
    var parts: [[UInt8]] {
        let last = range.upperBound - Self.partByteCount
        guard last > range.lowerBound else { return [Array(bytes[range])] }
        return stride(from: range.lowerBound, through: last, by: Self.partByteCount)
            .map { Array(bytes[$0..<$0 + Self.partByteCount]) }
            + [Array(bytes[last..<range.upperBound])]
    }

    /// What is looked for in texts and files: the bytes themselves, and how programs write bytes.
    var spellings: [[UInt8]] {
        let data = Data(bytes[range])
        let hex = data.map { String(format: "%02x", $0) }.joined()
        let base64 = data.base64EncodedString().prefix { $0 != "=" }.dropLast()
        let url = base64.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
        return parts
            + [hex, hex.uppercased(), String(base64), String(url)].map { Array($0.utf8) }
    }
}

/// Looks for many texts at once.
struct SecretSearch {
    private let secrets: [PlantedSecret]
    /// The texts by their first two bytes, with the number of the secret.
    private var byBeginning: [Int: [(number: Int, text: [UInt8])]] = [:]
    private var mayBegin = [Bool](repeating: false, count: 1 << 16)

    init(_ secrets: [PlantedSecret], _ texts: (PlantedSecret) -> [[UInt8]]) {
        self.secrets = secrets
        for (number, secret) in secrets.enumerated() {
            for text in texts(secret) {
                let beginning = Int(text[0]) << 8 | Int(text[1])
                byBeginning[beginning, default: []].append((number, text))
                mayBegin[beginning] = true
            }
        }
    }

    /// The names of the secrets that some bytes have; O(bytes).
    ///
    /// A text that begins with 0 is not found by its beginning, but its secret has other texts.
    func names(in bytes: [UInt8]) -> Set<String> {
        var names: Set<String> = []
        guard bytes.count > 1 else { return names }
        for index in 0..<bytes.count - 1 where bytes[index] != 0 {
            let beginning = Int(bytes[index]) << 8 | Int(bytes[index + 1])
            guard mayBegin[beginning], let texts = byBeginning[beginning] else { continue }
            for (number, text) in texts where bytes[index...].starts(with: text) {
                names.insert(secrets[number].name)
            }
        }
        return names
    }
}

/// The memory of a child process that it can write: heap, stacks, globals and mapped buffers.
struct ProcessMemory {
    private let id: Int32

    /// The bytes that are read at once.
    private static let stepByteCount = 4 << 20
    /// Texts at the seam of two reads are found by this overlap.
    private static let overlapByteCount = 256

    init(of id: Int32) { self.id = id }

    /// Whether the system lets this user read the memory of a child.
    func isReadable() -> Bool { FileHandle(forReadingAtPath: "/proc/\(id)/mem") != nil }

    /// Calls the body with all of it, a piece at a time, and says where each is.
    func visit(_ body: (_ bytes: [UInt8], _ place: String) throws -> Void) throws {
        guard let memory = FileHandle(forReadingAtPath: "/proc/\(id)/mem") else {
            throw CocoaError(.fileReadNoPermission)
        }
        for (range, place) in try writableRanges() {
            var start = range.lowerBound
            while start < range.upperBound {
                let count = min(Self.stepByteCount, Int(range.upperBound - start))
                try memory.seek(toOffset: start)
                // What the process has unmapped meanwhile is gone.
                let piece = (try? memory.read(upToCount: count)) ?? nil
                guard let piece, !piece.isEmpty else { break }
                try body([UInt8](piece), place)
                guard piece.count > Self.overlapByteCount, start + UInt64(count) < range.upperBound
                else { break }
                start += UInt64(piece.count - Self.overlapByteCount)
            }
        }
    }

    private func writableRanges() throws -> [(Range<UInt64>, String)] {
        let maps = try String(contentsOfFile: "/proc/\(id)/maps", encoding: .utf8)
        return maps.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", maxSplits: 5)
            let ends = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard words[1].hasPrefix("rw"), ends.count == 2 else { return nil }
            return (ends[0]..<ends[1], words.count > 5 ? String(words[5]) : "anonymous")
        }
    }
}

/// Gives a service secrets in every call that takes one, right and wrong ones, and in bytes that are no
/// call; notes each of them.
struct SecretPlanter {
    /// All secrets that the service got or gave.
    private(set) var secrets: [PlantedSecret] = []
    private(set) var half: (secret: PlantedSecret, socket: TestSocket, rest: [UInt8])
    private let port: UInt16
    /// A service's connection, whose failures are not counted for its host.
    private let client: WireClient
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
    func settle() throws { for _ in 0..<2 { _ = try client.call(.ping(PingRequest())) } }

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
        try plantChanges(of: "bob@x")
        return ("ann@x", password, token)
    }

    /// Changes of the account that the client is signed in to last, and of another one by a token.
    private mutating func plantChanges(of email: String) throws {
        let person = try WireClient(port: port)
        let password = newPassword("the first password of a changed account")
        try session(person.call(Self.signUp("dee@x", password)))
        let changed = newPassword("a changed password")
        func text(_ secret: PlantedSecret) -> SecretText { SecretText(secret.text) }
        let wrong = newPassword("a wrong password of a change")
        let unused = newPassword("a password that a wrong one does not set")
        _ = try person.call(
            .changePassword(ChangePasswordRequest(password: text(wrong), newPassword: text(unused)))
        )
        try session(
            person.call(
                .changePassword(
                    ChangePasswordRequest(password: text(password), newPassword: text(changed))
                )
            )
        )
        _ = try person.call(
            .changeEmail(ChangeEmailRequest(password: text(changed), email: "dora@x"))
        )
        let made = try client.call(.makePasswordReset(MakePasswordResetRequest(email: email)))
        guard case .passwordReset(let reset) = made.response else { throw Unexpected(made) }
        secrets.append(PlantedSecret("the token of a reset", reset.token))
        let newest = newPassword("a password that a token sets")
        try session(
            person.call(
                .resetPassword(ResetPasswordRequest(token: reset.token, newPassword: text(newest)))
            )
        )
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
