import FeedProto
import FeedTestSupport
import Testing

/// The service is killed under changes of accounts: what it acknowledged stands, and what was in doubt has
/// happened whole or not at all.
@Suite(.serialized, .timeLimit(.minutes(10)), DurableService.needed) struct AccountKillTests {
    @Test(
        "T-RUN-6: a kill loses no acknowledged change of an account, and halves none",
        arguments: TestEnvironment.seeds(1...1)
    )
    func accountsSurviveKills(seed: UInt64) async throws {
        let run = try AccountKillRun(seed: seed)
        try await run.run(cycles: 10)
        #expect(run.problems.isEmpty, "seed \(seed)")
        // Else the run would have shown nothing.
        #expect(run.changeCount > 12 && run.deletionCount > 2, "seed \(seed)")
    }

    @Test("a change that is taken for made when it was not would be seen")
    func seesAFault() async throws {
        let run = try AccountKillRun(seed: 1, believesAll: true)
        try await run.run(cycles: 12)
        #expect(!run.problems.isEmpty)
    }
}

/// People who change and delete their accounts at a service that is killed again and again; used by one
/// thread at a time.
private final class AccountKillRun: @unchecked Sendable {
    private struct Credentials: Equatable {
        var email: String
        var password: String
    }

    private struct Person {
        /// What may stand, nil being no account: one value once it was looked at.
        var states: [Credentials?]
        var posts: [PostID] = []
        var keepsPosts = false
    }

    private(set) var problems: [String] = []
    private(set) var changeCount = 0
    private(set) var deletionCount = 0
    private let directory: TemporaryDirectory
    private let believesAll: Bool
    private var random: SeededGenerator
    private var people: [Person] = []
    private var lastName = 0

    /// With a fault it believes that each call but a deletion is made once it is sent.
    init(seed: UInt64, believesAll: Bool = false) throws {
        directory = try TemporaryDirectory()
        random = SeededGenerator(seed: seed)
        self.believesAll = believesAll
    }

    func run(cycles: Int) async throws {
        for _ in 0..<cycles where !believesAll || problems.isEmpty {
            let service = try await DurableService.start(
                directory.path,
                ["--threads", "2", "--fold-bytes", "2000", "--keep-journal"]
            )
            let port = service.port
            let pingCount = Int.random(in: 0...1500, using: &random)
            try await offload { [self] in
                try audit(WireClient(port: port))
                let client = try WireClient(port: port)
                for _ in 0..<Int.random(in: 2...6, using: &random) { try change(client) }
                try change(client, isAnswered: false)
                // A hash takes as long as some hundred pings.
                let bystander = try WireClient(port: port)
                for _ in 0..<pingCount { _ = try bystander.call(.ping(PingRequest(payload: []))) }
            }
            await service.kill()
        }
        let service = try await DurableService.start(directory.path)
        let port = service.port
        try await offload { [self] in try audit(WireClient(port: port)) }
        #expect(await service.stop() == 0)
    }

    /// Makes a random change of a random person; the last one is not answered.
    private func change(_ client: WireClient, isAnswered: Bool = true) throws {
        let alive = people.indices.filter { people[$0].states.first != .some(nil) }
        guard let index = alive.randomElement(using: &random), random.next() % 3 > 0,
            let now = people[index].states[0]
        else {
            let new = Credentials(email: name() + "@x", password: "secret " + name())
            people.append(Person(states: [nil]))
            let request = SignUpRequest(email: new.email, password: SecretText(new.password))
            return try make(client, .signUp(request), people.count - 1, new, isAnswered)
        }
        try expectSuccess(client.call(Self.signIn(now)), "a sign-in")
        var next = now
        let password = SecretText(now.password)
        switch random.next() % 4 {
        case 0:
            next.password = "secret " + name()
            let new = SecretText(next.password)
            let request = ChangePasswordRequest(password: password, newPassword: new)
            try make(client, .changePassword(request), index, next, isAnswered)
        case 1:
            next.email = name() + "@x"
            let request = ChangeEmailRequest(password: password, email: next.email)
            try make(client, .changeEmail(request), index, next, isAnswered)
        case 2:
            let request = DeleteAccountRequest(
                password: password,
                keepsPosts: people[index].keepsPosts
            )
            deletionCount += 1
            try make(client, .deleteAccount(request), index, nil, isAnswered)
        default:
            people[index].keepsPosts = random.next() % 2 == 0
            people[index].posts.append(try client.createPost(title: name()))
            if !isAnswered { try client.send(.listFeeds) }
        }
    }

    private func make(
        _ client: WireClient,
        _ request: Request,
        _ index: Int,
        _ next: Credentials?,
        _ isAnswered: Bool
    ) throws {
        if isAnswered {
            try expectSuccess(client.call(request), "\(request)")
            people[index].states = [next]
            changeCount += 1
        } else {
            try client.send(request)
            let isBelieved = believesAll && next != nil
            people[index].states = isBelieved ? [next] : people[index].states + [next]
        }
    }

    /// Finds out what stands of each person, and that it is what may.
    private func audit(_ client: WireClient) throws {
        for (index, person) in people.enumerated() {
            let known = person.states.compactMap { $0 }
            let standing = try known.filter { try client.call(Self.signIn($0)).status == nil }
            let isGone = standing.isEmpty
            guard standing.count == 1 || isGone && person.states.contains(nil) else {
                problems.append("\(standing.count) of \(person.states) stand")
                people[index].states = [standing.first]
                people[index].posts = []
                continue
            }
            people[index].states = [standing.first]
            guard isGone else { continue }
            // What is left of the posts is erased in the seconds after a start, too.
            for post in person.posts {
                try awaitErasure(of: post, person.keepsPosts, client)
            }
            people[index].posts = []
        }
    }

    private func awaitErasure(
        of id: PostID,
        _ isKept: Bool,
        _ client: WireClient
    ) throws {
        while true {
            let answer = try client.call(.getPost(GetPostRequest(id: id)))
            guard case .post(let post) = answer.response else {
                if isKept { problems.append("post \(id) is gone") }
                return
            }
            if isKept, post.author == nil { return }
        }
    }

    private func expectSuccess(_ answer: ServerFrame, _ call: String) {
        if let status = answer.status { problems.append("\(status) for \(call)") }
    }

    private func name() -> String {
        lastName += 1
        return "name\(lastName)"
    }

    private static func signIn(_ credentials: Credentials) -> Request {
        .signIn(
            SignInRequest(email: credentials.email, password: SecretText(credentials.password))
        )
    }
}
