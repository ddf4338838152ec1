import FeedClient
import FeedProto
import FeedTestSupport
import FeedTransport
import Testing

/// Random histories of a session's watches against an independent model of the service.
///
/// Connections break and drain, the state is replaced, sessions begin and end, and watches are refused for
/// a while. At the end each watch shows what the service has, and the service has no other watch.
struct SessionWatchModelTests {
    @Test("watches show what the model has", arguments: TestEnvironment.seeds(1...200))
    func followsTheModel(seed: UInt64) {
        var history = History(seed: seed)
        for _ in 0..<400 { history.step() }
        history.settle()
        #expect(history.problems.isEmpty, "seed \(seed): \(history.problems.prefix(3))")
    }

    /// One history: a session, the model, and the network between them.
    struct History {
        private var harness: SessionHarness
        private var service: ModelWatchService
        private var random: SeededGenerator
        /// The watches that were begun and not given up, by their tokens.
        private var live: [UInt64: WatchPostsRequest] = [:]
        private var shown: [UInt64: WatchCopy] = [:]
        private(set) var problems: [String] = []
        private var lastToken: UInt64 = 1_000

        private var requests: [ClientFrame] = []
        private var answers: [ServerFrame] = []
        private var isConnected = false
        private var isDraining = false
        private var lastExecutedID: UInt64 = 0
        private var stepCount = 0
        private var viewer: Viewer?

        init(seed: UInt64) {
            random = SeededGenerator(seed: seed)
            service = ModelWatchService(&random)
            harness = SessionHarness(seed: seed)
        }

        mutating func step() {
            switch Int.random(in: 0..<24, using: &random) {
            case 0..<2: beginWatch()
            case 2..<7: service.change(&random)
            case 7..<11: execute()
            case 11..<15: deliver()
            case 15..<18: sendEvent()
            case 18: harness.pass(UInt64.random(in: 0...400, using: &random))
            case 19: connect()
            case 20: if random.oneIn(3) { breakConnection() }
            case 21: if random.oneIn(3) { drain() }
            case 22: if random.oneIn(2) { cancelWatch() } else { signIn() }
            default: if random.oneIn(8) { replaceState() }
            }
            follow()
        }

        /// Lets everything arrive, and compares.
        mutating func settle() {
            for _ in 0..<600 {
                connect(mayFail: false)
                for _ in 0..<4 { execute(refuses: false) }
                sendEvents()
                for _ in 0..<8 {
                    deliver()
                    follow()
                }
                harness.pass(20)
                follow()
            }
            for (token, request) in live {
                let list = service.list(request, viewer: viewer)
                guard let copy = shown[token] else {
                    problems.append("Watch \(token) has shown nothing.")
                    continue
                }
                if copy.ranking != list.map(\.id) || list.contains(where: { copy[$0.id] != $0 }) {
                    problems.append("Watch \(token) does not show its posts.")
                }
            }
            if service.watchIDs.count != live.count {
                problems.append("\(live.count) watches are \(service.watchIDs.count) there.")
            }
            harness.close()
            follow()
            if harness.session.watchCount != 0 { problems.append("A watch outlives its client.") }
        }

        private mutating func beginWatch() {
            guard live.count < 4 else { return }
            lastToken += 1
            var request = WatchPostsRequest(topCount: UInt32.random(in: 1...10, using: &random))
            if random.oneIn(3) { request = WatchPostsRequest(postIDs: [3, 1, 12, 7]) }
            live[lastToken] = request
            harness.session.watch(lastToken, request, actingUserID: 0)
            harness.run()
        }

        private mutating func cancelWatch() {
            guard let token = live.keys.sorted().randomElement(using: &random) else { return }
            live[token] = nil
            shown[token] = nil
            harness.session.cancelWatch(token)
            harness.run()
        }

        private mutating func signIn() {
            lastToken += 1
            let request = SignInRequest(email: "a", password: SecretText("b"))
            harness.submit(Int(lastToken), .signIn(request), within: 1_000_000_000)
        }

        /// Does what the session asked for since the last look.
        private mutating func follow() {
            requests += harness.takeFrames()
            for step in harness.watchSteps[stepCount...] { perform(step) }
            stepCount = harness.watchSteps.count
            requests.sort { $0.id < $1.id }
            // Frames that left before the connection ended are lost with it.
            for demand in harness.takeDemands() {
                switch demand {
                case .abandon: hangUp()
                case .close:
                    guard isConnected else { break }
                    hangUp()
                    harness.lose(.closed)
                case .connect, .sendHello, .finish: break
                }
            }
        }

        private mutating func perform(_ step: WatchTable.Step) {
            switch step {
            case .show(let token, let copy):
                if live[token] == nil { problems.append("A watch that was given up is shown.") }
                shown[token] = copy
            case .end(let token, let error):
                if live[token] != nil, error != .closed { problems.append("It ended: \(error)") }
            case .begin(let id, let request, _):
                requests.append(ClientFrame(id: id, request: .watchPosts(request)))
            case .cancel(let id, let watchID):
                requests.append(ClientFrame(id: id, request: .cancel(CancelRequest(id: watchID))))
            }
        }

        private mutating func connect(mayFail: Bool = true) {
            guard harness.opensConnection(mayFail: mayFail, &random) else { return }
            service.accept()
            isConnected = true
            isDraining = false
            lastExecutedID = 1
            // What the token of Hello says is whose watches begin here.
            viewer = harness.hello?.sessionToken.isEmpty == false ? Viewer(vote: .up) : nil
            service.viewer = viewer
            let hello = SessionHarness.hello(instance: service.instance)
            answers.append(ServerFrame(id: 1, revision: 1, response: hello))
        }

        /// The service executes its next frame, or refuses it for now.
        private mutating func execute(refuses: Bool = true) {
            guard isConnected, !requests.isEmpty, !isDraining else { return }
            let frame = requests.removeFirst()
            lastExecutedID = frame.id
            switch frame.request {
            case .watchPosts where refuses && random.oneIn(5):
                answers.append(
                    ServerFrame(id: frame.id, revision: 1, status: .overloaded(retryAfter: 5))
                )
            case .watchPosts(let request): service.begin(frame.id, request)
            case .cancel(let request): end(request.id, .of(.cancelled, .cancelled))
            case .signIn: answerSignIn(frame)
            default: problems.append("An unknown frame came.")
            }
        }

        /// The watches of the former session end, before the answer or after it.
        private mutating func answerSignIn(_ frame: ClientFrame) {
            viewer = Viewer(vote: .up)
            service.viewer = viewer
            let token = random.bytes(32)
            let session = UserSession(token: token, user: nil, expireTimeMilliseconds: 1)
            let answer = ServerFrame(id: frame.id, revision: 1, response: .session(session))
            let isFirst = random.oneIn(2)
            if isFirst { answers.append(answer) }
            if random.oneIn(2) {
                for id in service.watchIDs { end(id, .of(.unauthenticated, .sessionExpired)) }
            }
            if !isFirst { answers.append(answer) }
        }

        private mutating func end(_ id: UInt64, _ status: Status) {
            if let frame = service.end(id, status) { answers.append(frame) }
        }

        private mutating func sendEvent() {
            guard isConnected, let id = service.watchIDs.randomElement(using: &random) else {
                return
            }
            send(id)
        }

        private mutating func sendEvents() {
            for id in service.watchIDs where isConnected { send(id) }
        }

        /// A watch has one event on its way at most.
        private mutating func send(_ id: UInt64) {
            guard !answers.contains(where: { $0.id == id }) else { return }
            if let frame = service.event(id, &random) { answers.append(frame) }
        }

        private mutating func deliver() {
            guard isConnected, !answers.isEmpty else { return }
            harness.receive(answers.removeFirst())
        }

        private mutating func drain() {
            guard isConnected, !isDraining, answers.allSatisfy({ $0.id != 1 }) else { return }
            isDraining = true
            for id in service.watchIDs { end(id, .of(.unavailable, .draining)) }
            requests = []
            let goAway = GoAway(lastID: lastExecutedID, drainMilliseconds: 1_000, reason: .draining)
            answers.append(ServerFrame(id: 0, revision: 1, response: .goAway(goAway)))
        }

        private mutating func breakConnection() {
            guard isConnected else { return }
            hangUp()
            harness.lose()
        }

        private mutating func replaceState() {
            breakConnection()
            service.replaceState(&random)
        }

        private mutating func hangUp() {
            isConnected = false
            service.accept()
            requests = []
            answers = []
        }
    }
}

extension Status {
    static func of(_ code: StatusCode, _ reason: Reason) -> Status {
        Status(code: code, reason: reason, message: "")
    }
}

/// The posts and watches of a service in a few lines, as docs/PROTOCOL.md describes them.
struct ModelWatchService {
    private struct Watch {
        let request: WatchPostsRequest
        let viewer: Viewer?
        /// The revisions of the posts that the client has; nil before the first event.
        var known: [PostID: UInt64]?
        var ids: [PostID] = []
        var createdCount: UInt64 = 0
    }

    /// A text that fills a good part of a frame.
    static let longText = String(repeating: "x", count: 70_000)

    private(set) var instance: UInt64 = 1
    private(set) var revision: UInt64 = 0
    /// Whose watches begin on the connection.
    var viewer: Viewer?
    private var posts: [PostID: Post] = [:]
    private var editRevisions: [PostID: UInt64] = [:]
    private var lastID: UInt64 = 0
    private var createdCount: UInt64 = 0
    private var watches: [UInt64: Watch] = [:]

    init(_ random: inout SeededGenerator) { for _ in 0..<8 { create(&random) } }

    /// The frames that began the watches of the connection.
    var watchIDs: [UInt64] { watches.keys.sorted() }

    mutating func accept() { watches = [:] }

    /// The service starts with another state.
    mutating func replaceState(_ random: inout SeededGenerator) {
        instance += 1
        revision = 0
        posts = [:]
        lastID = 0
        for _ in 0..<Int.random(in: 1...20, using: &random) { change(&random) }
    }

    mutating func change(_ random: inout SeededGenerator) {
        guard let id = posts.keys.sorted().randomElement(using: &random), !random.oneIn(6) else {
            return create(&random)
        }
        revision += 1
        if random.oneIn(8) {
            posts[id] = nil
        } else if random.oneIn(5) {
            posts[id]?.title = "edit \(revision)"
            posts[id]?.revision = revision
            editRevisions[id] = revision
        } else {
            posts[id]?.score += Int64.random(in: -3...3, using: &random)
            posts[id]?.upvoteCount += 1
            posts[id]?.revision = revision
        }
    }

    private mutating func create(_ random: inout SeededGenerator) {
        revision += 1
        lastID += 1
        createdCount += 1
        let id = PostID(rawValue: lastID)
        var post = Post(id: id, feed: "posts", title: "post \(lastID)")
        post.text = random.oneIn(6) ? Self.longText : ""
        post.revision = revision
        posts[id] = post
        editRevisions[id] = revision
    }

    func list(_ request: WatchPostsRequest, viewer: Viewer?) -> [Post] {
        let list =
            request.postIDs.isEmpty
            ? Array(
                posts.values.sorted { ($1.score, $0.id) < ($0.score, $1.id) }
                    .prefix(Int(request.topCount))
            ) : request.postIDs.compactMap { posts[$0] }
        return list.map { post in
            var post = post
            post.viewer = viewer
            return post
        }
    }

    mutating func begin(_ id: UInt64, _ request: WatchPostsRequest) {
        var request = request
        if request.sinceRevision > revision { request.sinceRevision = 0 }
        watches[id] = Watch(request: request, viewer: viewer)
    }

    /// Ends a watch; its last frame, or nil where it had ended before.
    mutating func end(_ id: UInt64, _ status: Status) -> ServerFrame? {
        guard watches.removeValue(forKey: id) != nil else { return nil }
        return ServerFrame(id: id, revision: revision, status: status)
    }

    /// The next event of a watch; nil where there is nothing to say.
    mutating func event(_ id: UInt64, _ random: inout SeededGenerator) -> ServerFrame? {
        guard var watch = watches[id] else { return nil }
        let list = list(watch.request, viewer: watch.viewer)
        let isList = watch.request.postIDs.isEmpty
        var event = WatchPostsEvent()
        let ids = list.map(\.id)
        if let known = watch.known {
            for post in list where post.revision > known[post.id] ?? 0 {
                let isWhole = editRevisions[post.id] ?? 0 > known[post.id] ?? 0
                event.changed.append(isWhole ? post : post.onlyNumbers)
            }
            event.removedIDs = known.keys.filter { !ids.contains($0) }.sorted()
            if isList, watch.ids != ids { event.ranking = ids }
            if isList { event.newPostCount = UInt32(createdCount - watch.createdCount) }
            guard event != WatchPostsEvent() else { return nil }
        } else {
            event.isReset = watch.request.sinceRevision == 0
            event.changed = list.filter { $0.revision > watch.request.sinceRevision }
            if isList { event.ranking = ids }
            if !isList { event.removedIDs = watch.request.postIDs.filter { !ids.contains($0) } }
        }
        var unsent: Set<PostID> = []
        let isLarge = event.changed.contains { !$0.text.isEmpty }
        if isLarge, random.oneIn(2) {
            let kept = event.changed.lastIndex { !$0.text.isEmpty } ?? 0
            let rest = event.changed[(kept + 1)...]
            unsent = Set(rest.map(\.id))
            event.changed.removeLast(rest.count)
        }
        watch.known = Dictionary(
            uniqueKeysWithValues: list.map { ($0.id, unsent.contains($0.id) ? 0 : $0.revision) }
        )
        watch.ids = ids
        watch.createdCount = createdCount
        watches[id] = watch
        return ServerFrame(id: id, revision: revision, response: .watchPosts(event), hasMore: true)
    }
}

extension Post {
    /// What an event has of a post that was only voted on.
    fileprivate var onlyNumbers: Post {
        var numbers = Post(id: id)
        numbers.score = score
        numbers.upvoteCount = upvoteCount
        numbers.downvoteCount = downvoteCount
        numbers.revision = revision
        numbers.viewer = viewer
        return numbers
    }
}
