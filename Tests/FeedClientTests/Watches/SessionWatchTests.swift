import FeedClient
import FeedProto
import FeedTestSupport
import FeedTransport
import Testing

struct SessionWatchTests {
    private static let list = WatchPostsRequest(feed: "posts", topCount: 3)

    private static func post(_ id: PostID, score: Int64 = 0, revision: UInt64 = 1) -> Post {
        var post = Post(id: id, feed: "posts", title: "post \(id)", score: score)
        post.revision = revision
        return post
    }

    /// A harness with an open connection and a watch, whose frame has the id 2.
    private static func watching(_ request: WatchPostsRequest = list) -> SessionHarness {
        var harness = SessionHarness.opened()
        harness.session.watch(7, request, actingUserID: 0)
        harness.run()
        return harness
    }

    @Test func aWatchLeavesAtOnceAndTakesNoPlaceAmongTheCalls() {
        var harness = SessionHarness.opened(room: 1)
        harness.session.watch(7, Self.list, actingUserID: 5)
        harness.run()
        #expect(harness.takeBegun() == [.init(id: 2, since: 0, actingUserID: 5)])
        harness.submit(1)
        #expect(harness.takeSent() == [1])
        #expect(harness.session.inFlightCount == 1)
    }

    @Test func anEventIsShownAndALostConnectionIsResumed() {
        var harness = Self.watching()
        #expect(harness.takeBegun().map(\.since) == [0])
        harness.sendEvent(2, revision: 9, .all([Self.post(4), Self.post(5)]))
        #expect(harness.takeShown()[7]?.ranking == [4, 5])
        harness.lose()
        // No call waits, and the client connects all the same.
        harness.connect()
        #expect(harness.takeBegun() == [.init(id: 2, since: 9)])
        let moved = WatchPostsEvent(
            changed: [Self.post(5, score: 2, revision: 12)],
            ranking: [5, 4]
        )
        harness.sendEvent(2, revision: 12, moved)
        let copy = harness.takeShown()[7]
        #expect(copy?.ranking == [5, 4])
        #expect(copy?[5]?.score == 2)
    }

    @Test func aPostThatCameWithoutAChangeBeginsTheWatchAnew() {
        var harness = Self.watching()
        harness.sendEvent(2, revision: 9, .all([Self.post(4), Self.post(5)]))
        harness.lose()
        harness.connect()
        _ = harness.takeBegun()
        _ = harness.takeShown()
        harness.sendEvent(2, revision: 12, WatchPostsEvent(ranking: [4, 6]))
        #expect(harness.takeShown().isEmpty)
        #expect(harness.takeCancelled() == [2])
        #expect(harness.takeBegun() == [.init(id: 4, since: 0)])
        // What comes for the former frame is dropped, to its end.
        harness.sendEvent(2, revision: 13, WatchPostsEvent(newPostCount: 1))
        harness.receive(2, .of(.cancelled, .cancelled))
        harness.sendEvent(4, revision: 12, .all([Self.post(4), Self.post(6)]))
        #expect(harness.takeShown()[7]?.ranking == [4, 6])
        #expect(harness.session.isConnected)
    }

    @Test func aWatchThatBeginsAnewDoesSoAlsoAfterALostConnection() {
        var harness = Self.watching()
        harness.sendEvent(2, revision: 9, .all([Self.post(4), Self.post(5)]))
        harness.lose()
        harness.connect()
        _ = harness.takeBegun()
        harness.sendEvent(2, revision: 12, WatchPostsEvent(ranking: [4, 6]))
        #expect(harness.takeBegun() == [.init(id: 4, since: 0)])
        // Its first event has not come.
        harness.lose()
        harness.connect()
        #expect(harness.takeBegun() == [.init(id: 2, since: 0)])
    }

    @Test func anotherInstanceIsWatchedAnew() {
        var harness = Self.watching()
        harness.sendEvent(2, revision: 9, .all([Self.post(4)]))
        harness.lose()
        _ = harness.takeBegun()
        harness.connect(SessionHarness.hello(instance: 2))
        #expect(harness.takeBegun() == [.init(id: 2, since: 0)])
    }

    @Test func anEventThatMayLackPostsIsNotResumedFrom() {
        var harness = Self.watching()
        var post = Self.post(4)
        post.text = ModelWatchService.longText
        harness.sendEvent(2, revision: 9, .all([post]))
        harness.lose()
        _ = harness.takeBegun()
        harness.connect()
        #expect(harness.takeBegun() == [.init(id: 2, since: 0)])
    }

    @Test func aWatchThatIsGivenUpIsCancelled() {
        var harness = Self.watching()
        harness.session.cancelWatch(7)
        harness.run()
        #expect(harness.takeCancelled() == [2])
        #expect(harness.session.watchCount == 0)
        harness.sendEvent(2, revision: 9, .all([Self.post(4)]))
        harness.receive(2, .of(.cancelled, .cancelled))
        #expect(harness.takeShown().isEmpty)
        #expect(harness.session.isConnected)
        // The end has come, so another frame of the id breaks the protocol.
        harness.sendEvent(2, revision: 9, .all([Self.post(4)]))
        #expect(!harness.session.isConnected)
    }

    @Test func aSecondEventReplacesTheFirstWhileNobodyTakesIt() {
        var harness = Self.watching()
        harness.session.received(.event(2, revision: 9, .all([Self.post(4)])), at: harness.time)
        for revision in UInt64(10)...20 {
            let event = WatchPostsEvent(changed: [Self.post(4, score: 1, revision: revision)])
            harness.session.received(.event(2, revision: revision, event), at: harness.time)
        }
        harness.run()
        let shown = harness.watchSteps.filter { if case .show = $0 { true } else { false } }
        #expect(shown.count == 1)
        #expect(harness.takeShown()[7]?.revision == 20)
    }

    @Test func aServiceThatDrainsIsLeft() {
        var harness = Self.watching()
        harness.sendEvent(2, revision: 9, .all([Self.post(4)]))
        harness.receive(2, .of(.unavailable, .draining))
        #expect(harness.demands == [.close])
        harness.lose(.closed)
        _ = harness.takeBegun()
        harness.connect()
        #expect(harness.takeBegun() == [.init(id: 2, since: 9)])
    }

    @Test func aRefusalThatPassesIsTriedAgainAfterTheAdvisedTime() {
        var harness = Self.watching()
        _ = harness.takeBegun()
        harness.receive(2, .overloaded(retryAfter: 500))
        harness.pass(499)
        #expect(harness.takeBegun().isEmpty)
        harness.pass(60)
        #expect(harness.takeBegun().map(\.id) == [3])
        #expect(harness.error(7) == nil)
    }

    @Test(
        "a refusal that stays ends the watch",
        arguments: [Reason.feedNotFound, .tooManyWatches, .badField, .sessionExpired]
    )
    func aRefusalEndsIt(reason: Reason) {
        var harness = Self.watching()
        harness.receive(2, .of(.failedPrecondition, reason))
        #expect(harness.takeEnded() == [7: .refused(.of(.failedPrecondition, reason))])
        #expect(harness.session.watchCount == 0)
        #expect(harness.session.isConnected)
    }

    @Test func aFullServiceSaysWhenToComeBack() {
        var harness = Self.watching()
        _ = harness.takeBegun()
        var status = Status.of(.resourceExhausted, .tooManyWatches)
        status.retryAfterMilliseconds = 100
        harness.receive(2, status)
        harness.pass(200)
        #expect(harness.takeBegun().map(\.id) == [3])
    }

    @Test func aSignInBeginsTheWatchAnewAsTheUser() {
        var harness = Self.watching()
        harness.sendEvent(2, revision: 9, .all([Self.post(4)]))
        _ = harness.takeBegun()
        let request = SignInRequest(email: "a", password: SecretText("b"))
        harness.submit(1, .signIn(request))
        // The service may end the watch of nobody before it answers.
        harness.receive(2, .of(.unauthenticated, .sessionExpired))
        #expect(harness.takeEnded().isEmpty)
        let token = [UInt8](repeating: 3, count: 32)
        let session = UserSession(token: token, user: nil, expireTimeMilliseconds: 1)
        harness.receive(3, .session(session))
        #expect(harness.takeBegun().last?.since == 0)
        #expect(harness.isAnswered(1))
    }

    @Test func anAdoptedSessionIsThatOfTheNextConnection() {
        var harness = Self.watching()
        harness.sendEvent(2, revision: 9, .all([Self.post(4)]))
        _ = harness.takeBegun()
        harness.session.adopt(sessionToken: [1])
        harness.run()
        #expect(harness.demands == [.close])
        harness.lose(.closed)
        harness.connect()
        #expect(harness.hello?.sessionToken == [1])
        #expect(harness.takeBegun() == [.init(id: 2, since: 0)])
    }

    @Test func closingEndsItAfterItsNewestState() {
        var harness = Self.watching()
        let event = ServerFrame.event(2, revision: 9, .all([Self.post(4)]))
        harness.session.received(event, at: harness.time)
        harness.close()
        #expect(harness.takeShown()[7]?.ranking == [4])
        #expect(harness.takeEnded() == [7: .closed])
        #expect(harness.demands == [.close])
        harness.session.watch(8, Self.list, actingUserID: 0)
        harness.run()
        #expect(harness.takeEnded() == [8: .closed])
    }

    @Test func aPeerThatBreaksTheProtocolEndsIt() {
        var harness = Self.watching()
        harness.receive(2, .empty)
        let reason = "Answer 2 is no event of a watch."
        #expect(harness.takeEnded() == [7: .protocolViolation(reason: reason, effect: .none)])
        #expect(harness.demands == [.abandon])
    }
}

extension ServerFrame {
    static func event(_ id: UInt64, revision: UInt64, _ event: WatchPostsEvent) -> Self {
        ServerFrame(id: id, revision: revision, response: .watchPosts(event), hasMore: true)
    }
}

extension WatchPostsEvent {
    /// The first event of a list.
    static func all(_ posts: [Post]) -> Self {
        WatchPostsEvent(changed: posts, ranking: posts.map(\.id), isReset: true)
    }
}

extension SessionHarness {
    struct Begun: Equatable {
        var id: UInt64
        var since: UInt64
        var actingUserID: UserID = 0
    }

    mutating func sendEvent(_ id: UInt64, revision: UInt64, _ event: WatchPostsEvent) {
        receive(.event(id, revision: revision, event))
    }

    /// The WatchPosts that have left since the last look.
    mutating func takeBegun() -> [Begun] {
        take { step in
            guard case .begin(let id, let request, let user) = step else { return nil }
            return Begun(id: id, since: request.sinceRevision, actingUserID: user)
        }
    }

    /// The watches, by their frames, that were cancelled since the last look.
    mutating func takeCancelled() -> [UInt64] {
        take { if case .cancel(_, let watchID) = $0 { watchID } else { nil } }
    }

    /// The newest copies that were shown since the last look.
    mutating func takeShown() -> [UInt64: WatchCopy] {
        let shown: [(UInt64, WatchCopy)] = take {
            if case .show(let watch, let copy) = $0 { (watch, copy) } else { nil }
        }
        return Dictionary(shown) { $1 }
    }

    /// The watches that have ended since the last look.
    mutating func takeEnded() -> [UInt64: FeedClientError] {
        let ended: [(UInt64, FeedClientError)] = take {
            if case .end(let watch, let error) = $0 { (watch, error) } else { nil }
        }
        return Dictionary(uniqueKeysWithValues: ended)
    }

    private mutating func take<Value>(_ value: (WatchTable.Step) -> Value?) -> [Value] {
        let values = watchSteps.compactMap(value)
        watchSteps.removeAll { value($0) != nil }
        return values
    }
}
