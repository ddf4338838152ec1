import Dispatch
import FeedConcurrency
import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import FeedTransport
import Logging
import Testing

/// How watches begin, go on and end.
@Suite(.timeLimit(.minutes(10))) struct WatchTests {
    private static func fill(_ client: WatchingClient, _ count: Int = 10) throws {
        for number in 0..<count { _ = try client.client.createPost(title: "post \(number)") }
    }

    @Test(
        "T-WATCH-2: a vote is sent as numbers, an edit as a whole post, and nothing without a change"
    )
    func eventsHaveWhatChanged() async throws {
        try await withWatching { client, clock in
            try Self.fill(client)
            let id = try client.watch(WatchPostsRequest(feed: "posts", order: .old, topCount: 5))
            let first = try #require(client.copies[id]?.events.first)
            #expect(first.isReset && first.changed.count == 5 && first.ranking == [1, 2, 3, 4, 5])
            #expect(client.copies[id]?.frames.first?.hasMore == true)
            try client.advance(clock)
            #expect(client.copies[id]?.frames.count == 1)
            for _ in 0..<3 { _ = try client.client.vote(2) }
            _ = try client.client.vote(9)
            try client.advance(clock)
            let vote = try #require(client.copies[id]?.events.last)
            #expect(vote.changed.count == 1 && vote.ranking.isEmpty && !vote.isReset)
            #expect(vote.changed.first?.title == "" && vote.changed.first?.score == 3)
            let edited = Post(id: 3, title: "edited")
            try client.call(.updatePost(UpdatePostRequest(post: edited, updateMask: [.title])))
            try client.advance(clock)
            let edit = try #require(client.copies[id]?.events.last)
            #expect(edit.changed.map(\.title) == ["edited"] && edit.changed.first?.feed == "posts")
            #expect(client.copies[id]?.frames.count == 3)
        }
    }

    @Test("T-WATCH-2: events keep the interval, which is at least 50 ms")
    func eventsKeepTheInterval() async throws {
        try await withWatching { client, clock in
            try Self.fill(client, 1)
            let intervals: [UInt32: UInt64] = try [
                0: client.watch(WatchPostsRequest(topCount: 1)),
                1: client.watch(WatchPostsRequest(topCount: 1, minimumIntervalMilliseconds: 1)),
                1000: client.watch(
                    WatchPostsRequest(topCount: 1, minimumIntervalMilliseconds: 1000)
                ),
                3000: client.watch(
                    WatchPostsRequest(postIDs: [1], minimumIntervalMilliseconds: 3000)
                ),
            ]
            var counts: [UInt32: Int] = [:]
            for _ in 0..<600 {
                _ = try client.client.vote(1)
                try client.advance(clock, by: .milliseconds(10))
            }
            for (interval, id) in intervals { counts[interval] = client.copies[id]?.events.count }
            // Six seconds, and the first events. An event may be late by a tick.
            #expect((24...25).contains(counts[0] ?? 0))
            #expect((101...121).contains(counts[1] ?? 0))
            #expect((6...7).contains(counts[1000] ?? 0))
            #expect((2...3).contains(counts[3000] ?? 0))
        }
    }

    /// Posts of nobody, before all others in OLD.
    private static func importOldPosts(_ client: WatchingClient) throws {
        let posts = Array(repeating: Post(title: "old"), count: 256)
        for _ in 0..<8 {
            let request = ImportPostsRequest(feed: "posts", posts: posts)
            #expect(try client.call(.importPosts(request)).status == nil)
        }
    }

    @Test("T-WATCH-2: a filter that looks at thousands of posts is read less often")
    func filtersThatLookFarAreSlower() async throws {
        try await withWatching { client, clock in
            let signUp = SignUpRequest(email: "a@example.org", password: "secret-1")
            #expect(try client.call(.signUp(signUp)).status == nil)
            try Self.fill(client, 1)
            try Self.importOldPosts(client)
            var request = WatchPostsRequest(
                feed: "posts",
                order: .old,
                topCount: 1,
                minimumIntervalMilliseconds: 50,
                authorID: 1
            )
            let far = try client.watch(request)
            request.order = .new
            let near = try client.watch(request)
            for _ in 0..<180 {
                _ = try client.client.vote(1)
                try client.advance(clock, by: .milliseconds(10))
            }
            #expect(client.copies[far]?.ranking == [1] && client.copies[near]?.ranking == [1])
            // Of 2,049 posts 2, 16, 128, 1,024 and all are looked at: an event comes after 150 ms.
            #expect((10...13).contains(client.copies[far]?.events.count ?? 0))
            #expect((30...37).contains(client.copies[near]?.events.count ?? 0))
        }
    }

    @Test("T-WATCH-2: a loop goes on with requests between the events of filters that look far")
    func filtersThatLookFarTakeTurns() async throws {
        try await withWatching { client, _ in
            try Self.importOldPosts(client)
            let watches = (1...3).map(UserID.init(rawValue:)).map { author in
                Request.watchPosts(WatchPostsRequest(topCount: 1, authorID: author))
            }
            // All in one write: the loop executes 64 of them in an iteration.
            let requests = watches + Array(repeating: .ping(PingRequest()), count: 400)
            let bytes = try requests.flatMap { request in
                try ClientFrame(id: client.client.nextID(), request: request).encoded()
            }
            try client.client.socket.send(bytes)
            let areEvents = try requests.map { _ in
                if case .watchPosts = try client.receive()?.response { true } else { false }
            }
            #expect(areEvents.count { $0 } == 3 && areEvents.last == false)
            #expect(!zip(areEvents, areEvents.dropFirst()).contains { $0 && $1 })
        }
    }

    @Test("T-WATCH-3: Cancel ends a watch with CANCELLED, and has no answer of its own")
    func cancelEndsAWatch() async throws {
        try await withWatching { client, clock in
            try Self.fill(client)
            let (one, other) = (
                try client.watch(WatchPostsRequest(topCount: 5)),
                try client.watch(WatchPostsRequest(topCount: 5))
            )
            try client.client.send(.cancel(CancelRequest(id: one)))
            try client.client.send(.cancel(CancelRequest(id: 999)))
            try client.settle()
            #expect(client.copies[one]?.end?.code == .cancelled)
            #expect(client.copies[one]?.end?.reason == .cancelled)
            #expect(client.copies[one]?.frames.last?.hasMore == false)
            _ = try client.client.vote(1)
            try client.advance(clock)
            #expect(client.copies[one]?.frames.count == 2)
            #expect(client.copies[other]?.frames.count == 2 && client.copies[other]?.end == nil)
            #expect(try client.watchCount() == 1)
        }
    }

    @Test("T-WATCH-3: watches begin and go on however often the last one has ended")
    func watchesBeginAgain() async throws {
        try await withWatching { client, clock in
            try Self.fill(client, 1)
            for round in 1...20 {
                let id = try client.watch(WatchPostsRequest(topCount: 1))
                _ = try client.client.vote(1)
                if round % 2 == 0 { try client.advance(clock) }
                // The cancel meets an event that is due, or none.
                clock.advance(by: .milliseconds(250))
                try client.client.send(.cancel(CancelRequest(id: id)))
                try client.advance(clock, by: .milliseconds(10))
                #expect(client.copies[id]?.end?.code == .cancelled)
                if round % 2 == 0 { #expect(client.copies[id]?.posts[1]?.score == Int64(round)) }
            }
        }
    }

    @Test("T-WATCH-4: a connection and the service have limits of watches, which ends give back")
    func watchesAreLimited() async throws {
        let lines = LoggedLines()
        try await withService(logger: lines.logger) {
            $0.limits.maximumWatchCount = 20
        } _: { port in
            let client = try WatchingClient(port: port)
            try Self.fill(client, 1)
            let watch = WatchPostsRequest(postIDs: [1])
            var ids: [UInt64] = []
            for _ in 0..<16 { ids.append(try client.watch(watch)) }
            let refused = try client.watch(watch)
            #expect(client.copies[refused]?.end?.reason == .tooManyWatches)
            #expect(client.copies[refused]?.end?.code == .resourceExhausted)
            let line = "warning: refused watch_posts from 127.0.0.1: TOO_MANY_WATCHES"
            #expect(lines.all.contains(line))
            let other = try WatchingClient(port: port)
            for _ in 0..<4 { #expect(try other.copies[other.watch(watch)]?.end == nil) }
            #expect(try other.copies[other.watch(watch)]?.end?.reason == .tooManyWatches)
            try client.client.send(.cancel(CancelRequest(id: ids[0])))
            try client.settle()
            #expect(try other.copies[other.watch(watch)]?.end == nil)
            #expect(try other.watchCount() == 20)
            other.client.socket.close()
            // The service has noticed the end of the other connection when its watches are gone.
            var askedCount = 0
            while try client.watchCount() != 15, askedCount < 100_000 { askedCount += 1 }
            #expect(askedCount < 100_000)
        }
    }

    @Test(
        "T-WATCH-4: what no watch can be is refused",
        arguments: [
            WatchPostsRequest(), WatchPostsRequest(topCount: 101),
            WatchPostsRequest(topCount: 1, postIDs: [1]),
            WatchPostsRequest(postIDs: (1...201).map(PostID.init(rawValue:))),
            WatchPostsRequest(order: .new, window: .day, topCount: 1),
        ]
    )
    func badWatchesAreRefused(request: WatchPostsRequest) async throws {
        try await withService { port in
            let client = try WatchingClient(port: port)
            let id = try client.watch(request)
            #expect(client.copies[id]?.end?.code == .invalidArgument)
            #expect(try client.watchCount() == 0)
            let unknown = try client.watch(WatchPostsRequest(feed: "none", topCount: 1))
            #expect(client.copies[unknown]?.end?.reason == .feedNotFound)
        }
    }

    @Test(
        "T-WATCH-5: a watch resumes with what has changed, and begins anew where that is not known"
    )
    func watchesResume() async throws {
        try await withWatching { client, clock in
            try Self.fill(client)
            let list = WatchPostsRequest(feed: "posts", order: .old, topCount: 10)
            let single = WatchPostsRequest(postIDs: [3, 4])
            let first = try client.watch(list)
            let revision = try #require(client.copies[first]?.frames.last?.revision)
            _ = try client.client.vote(4)
            _ = try client.client.vote(7)
            var resumed = list
            resumed.sinceRevision = revision
            let id = try client.watch(resumed)
            let event = try #require(client.copies[id]?.events.first)
            #expect(!event.isReset && event.changed.map(\.id) == [4, 7])
            #expect(event.changed.allSatisfy { $0.feed == "posts" } && event.ranking.count == 10)
            var posts = single
            posts.sinceRevision = revision
            let other = try client.watch(posts)
            let numbers = try #require(client.copies[other]?.events.first)
            #expect(!numbers.isReset && numbers.changed.map(\.id) == [4])
            #expect(numbers.changed.first?.feed == "")
            resumed.sinceRevision = 1_000_000
            let anew = try client.watch(resumed)
            #expect(client.copies[anew]?.events.first?.isReset == true)
            #expect(client.copies[anew]?.list.count == 10)
            // The watch goes on from there.
            _ = try client.client.vote(5)
            try client.advance(clock)
            #expect(client.copies[id]?.events.last?.changed.map(\.id) == [5])
        }
    }

    @Test("T-WATCH-6: watches of a session end with it, and those of others go on")
    func watchesEndWithTheirSession() async throws {
        try await withWatching { client, clock in
            try Self.fill(client, 1)
            let before = try client.watch(WatchPostsRequest(postIDs: [1]))
            let signUp = SignUpRequest(email: "a@example.org", password: "secret-1")
            #expect(try client.call(.signUp(signUp)).status == nil)
            let id = try client.watch(WatchPostsRequest(postIDs: [1]))
            #expect(client.copies[id]?.posts[1]?.viewer != nil)
            #expect(client.copies[before]?.posts[1]?.viewer == nil)
            try client.call(.signOut(SignOutRequest()))
            _ = try client.client.vote(1)
            try client.advance(clock)
            #expect(client.copies[id]?.end?.reason == .sessionExpired)
            #expect(client.copies[before]?.end == nil)
            #expect(client.copies[before]?.posts[1]?.score == 1)
        }
    }

    @Test("T-WATCH-6: a service sees the ballots of the user that it watches for")
    func servicesWatchForUsers() async throws {
        try await withWatching { client, clock in
            let feed = Feed(name: "ballots", voteMode: .ballot)
            try client.call(.createFeed(CreateFeedRequest(feed: feed)))
            _ = try client.client.createPost(title: "a", feed: "ballots")
            let (user, other) = (UserID.ofService(1), UserID.ofService(2))
            let request = WatchPostsRequest(feed: "ballots", order: .top, topCount: 1)
            let ids = try [user, other].map { try client.watch(request, actingUserID: $0) }
            let vote = CastVoteRequest(postID: 1, direction: .up)
            let frame = ClientFrame(
                id: client.client.nextID(),
                request: .castVote(vote),
                actingUserID: user
            )
            try client.client.send(frame)
            while try client.receive()?.id != frame.id {}
            try client.advance(clock)
            #expect(client.copies[ids[0]]?.posts[1]?.viewer?.vote == .up)
            #expect(client.copies[ids[1]]?.posts[1]?.viewer?.vote == .unspecified)
            #expect(client.copies[ids[1]]?.posts[1]?.score == 1)
        }
    }

    @Test(
        "T-WATCH-6: a service's watch for a user ends when nobody may act for the user any more",
        arguments: [(UserChange.suspend, Reason.userSuspended), (.delete, .badField)]
    )
    func watchesForAUserEndWithTheAccount(_ change: UserChange, _ reason: Reason) async throws {
        let clock = ManualClock()
        try await withService {
            $0.loopClock = clock
        } _: { port in
            let client = try WatchingClient(port: port)
            try Self.fill(client, 1)
            let signUp = SignUpRequest(email: "a@example.org", password: "secret-1")
            #expect(try WireClient(port: port).call(.signUp(signUp)).status == nil)
            let watch = WatchPostsRequest(postIDs: [1])
            let id = try client.watch(watch, actingUserID: 1)
            let other = try client.watch(watch, actingUserID: .ofService(1))
            try client.advance(clock)
            #expect(client.copies[id]?.end == nil)
            try client.call(.changeUser(ChangeUserRequest(userID: 1, change: change)))
            try client.advance(clock)
            #expect(client.copies[id]?.end?.reason == reason)
            #expect(client.copies[other]?.end == nil)
        }
    }
}

/// Watches whose clients are slow, whose disk is slow, and whose service stops.
@Suite(.timeLimit(.minutes(10))) struct WatchDeliveryTests {
    @Test("T-WATCH-7: who does not read gets few events, which have all that has changed")
    func slowReadersGetFewEvents() async throws {
        let clock = ManualClock()
        let budget = BufferBudget()
        try await withService {
            $0.loopClock = clock
            $0.budget = budget
            $0.limits.writeProgressTimeout = .seconds(3600)
            $0.limits.idleTimeout = .seconds(3600)
        } _: { port in
            let writer = try WatchingClient(port: port)
            let text = String(repeating: "x", count: 10_000)
            for number in 0..<50 {
                let post = Post(title: "\(number)", text: text)
                try writer.call(.createPost(CreatePostRequest(post: post)))
            }
            let slow = try WatchingClient(port: port, receiveBufferByteCount: 4096)
            let request = WatchPostsRequest(feed: "posts", order: .old, topCount: 50)
            let id = try slow.client.send(.watchPosts(request))
            slow.copies[id] = WatchingClient.Copy()
            for round in 0..<100 {
                for post in (1...50).map(PostID.init(rawValue:)) {
                    let edit = Post(id: post, title: "round \(round)")
                    try writer.call(
                        .updatePost(UpdatePostRequest(post: edit, updateMask: [.title]))
                    )
                }
                try writer.advance(clock)
                #expect(budget.bufferedByteCount < 2 << 20)
            }
            try slow.settle()
            try writer.advance(clock)
            try slow.settle()
            #expect(slow.copies[id]?.list.map(\.title) == Array(repeating: "round 99", count: 50))
            #expect(try #require(slow.copies[id]).events.count <= 6)
        }
    }

    @Test("T-WATCH-7: posts that do not fit into a frame follow in the next events")
    func largePostsFollow() async throws {
        try await withWatching { client, clock in
            let text = String(repeating: "y", count: 10_000)
            for number in 0..<200 {
                let post = Post(title: "\(number)", text: text)
                try client.call(.createPost(CreatePostRequest(post: post)))
            }
            let list = try client.watch(
                WatchPostsRequest(feed: "posts", order: .old, topCount: 100)
            )
            let posts = try client.watch(
                WatchPostsRequest(postIDs: (1...200).map(PostID.init(rawValue:)))
            )
            #expect(try #require(client.copies[list]).posts.count < 100)
            for _ in 0..<3 { try client.advance(clock) }
            #expect(client.copies[list]?.list.map(\.id.rawValue) == Array(1...100))
            #expect(client.copies[posts]?.posts.count == 200)
            #expect(client.copies[list]?.events.count == 2)
        }
    }

    @Test(
        "T-WATCH-8: an event waits until what it shows is durable, and no other is built meanwhile"
    )
    func eventsAreDurable() async throws {
        let clock = ManualClock()
        try await withGatedService {
            $0.loopClock = clock
            $0.limits.maximumConnectionCount = 2
        } _: { port, gate in
            let writer = try WatchingClient(port: port)
            _ = try writer.client.createPost(title: "a")
            let watcher = try WatchingClient(port: port)
            let id = try watcher.watch(WatchPostsRequest(postIDs: [1]))
            gate.close()
            for number in 0..<5 {
                try writer.client.send(.castVote(CastVoteRequest(postID: 1, direction: .up)))
                if number == 0 { gate.awaitCommit() }
                clock.advance(by: .milliseconds(260))
                // A refusal of a connection is not held, so the loop has passed some iterations.
                for _ in 0..<4 { _ = try WireClient(port: port).receiveAll() }
                #expect(watcher.client.socket.receiveWithoutWaiting().isEmpty)
            }
            gate.open()
            for _ in 0..<5 { #expect(try writer.client.receive()?.status == nil) }
            try watcher.settle()
            try watcher.advance(clock)
            #expect(watcher.copies[id]?.posts[1]?.score == 5)
            // The first one, one that was held, and one for all that came after it.
            #expect(try #require(watcher.copies[id]).events.count <= 3)
        }
    }

    @Test("T-WATCH-9: a watch ends with DRAINING before GoAway, and resumes at the next service")
    func watchesResumeAfterARestart() async throws {
        let directory = try TemporaryDirectory()
        var configuration = ServiceConfiguration(addresses: [.loopback(port: 0)], threadCount: 2)
        configuration.state = StateOptions(path: directory.path, logCount: 2)
        ProcessSetup.ignoreBrokenPipes()
        var revision: UInt64 = 0
        for run in 0..<2 {
            let server = try FeedServer.startQuietly(configuration)
            let port = try #require(server.addresses.first?.port)
            revision = try await offload { [revision] in
                let client = try WatchingClient(port: port)
                if run == 0 { for _ in 0..<5 { _ = try client.client.createPost(title: "a") } }
                var request = WatchPostsRequest(feed: "posts", order: .old, topCount: 5)
                request.sinceRevision = revision
                if run == 1 { _ = try client.client.vote(2) }
                let id = try client.watch(request)
                let event = try #require(client.copies[id]?.events.first)
                #expect(event.isReset == (run == 0))
                #expect(event.changed.map(\.id) == (run == 0 ? [1, 2, 3, 4, 5] : [2]))
                server.beginDraining()
                while try client.receive() != nil {}
                #expect(client.copies[id]?.end?.code == .unavailable)
                #expect(client.copies[id]?.end?.reason == .draining)
                #expect(client.copies[id]?.frames.last?.hasMore == false)
                #expect(client.goAway?.lastID ?? 0 >= id)
                return try #require(client.copies[id]?.frames.first?.revision)
            }
            try await offload { server.wait() }
        }
    }
}

/// One host's watches beside those of others.
@Suite(.timeLimit(.minutes(2))) struct WatchShareTests {
    /// Takes watches until one is refused; their number.
    private static func takeAll(_ admission: WatchAdmission, _ peer: ClientIdentity) -> Int {
        var count = 0
        while (try? admission.admit(peer, mayHaveAll: false)) != nil { count += 1 }
        return count
    }

    @Test func tenHostsThatWantAllLeaveSomeToOthers() {
        let admission = WatchAdmission(limit: 12_000)
        let counts = (0..<10).map { Self.takeAll(admission, .address($0)) }
        #expect(counts.first == 1_334)
        #expect(counts.reduce(0, +) == admission.count)
        #expect(12_000 - admission.count >= 3_690)
        #expect(Self.takeAll(admission, .address(10)) > 400)
        #expect(throws: WatchAdmission.Refusal.hostIsFull(1_334)) {
            try admission.admit(.address(0), mayHaveAll: false)
        }
        #expect(admission.largest(2).map { $0.count } == [1_334, counts[1]])
    }

    @Test func endsGiveTheShareBack() throws {
        let admission = WatchAdmission(limit: 100)
        let count = Self.takeAll(admission, .network(1))
        for _ in 0..<count { admission.release(.network(1)) }
        #expect(admission.count == 0)
        #expect(admission.largest(1).isEmpty)
        #expect(Self.takeAll(admission, .network(1)) == count)
    }

    @Test func aServiceMayHaveAll() throws {
        let admission = WatchAdmission(limit: 20)
        for _ in 0..<20 { try admission.admit(.key(1), mayHaveAll: true) }
        #expect(throws: WatchAdmission.Refusal.full) {
            try admission.admit(.key(1), mayHaveAll: true)
        }
    }

    @Test("T-WATCH-10: a host has a share of the watches, and the statistics name it")
    func hostsHaveShares() async throws {
        try await withTestKeys {
            $0.limits.maximumWatchCount = 20
            $0.limits.identities.limitsLoopback = true
        } _: { port, keys in
            let watch = WatchPostsRequest(topCount: 1)
            let greedy = try WatchingClient(port: port, from: 0x7f00_0002)
            for _ in 0..<3 { #expect(try greedy.copies[greedy.watch(watch)]?.end == nil) }
            let again = try WatchingClient(port: port, from: 0x7f00_0002)
            let refusal = try again.copies[again.watch(watch)]?.end
            #expect(refusal?.reason == .tooManyWatches)
            #expect(
                refusal?.message
                    == "Your host has 3 watches, which is its share of the service's 20 now."
            )
            let other = try WatchingClient(port: port, from: 0x7f00_0003)
            #expect(try other.copies[other.watch(watch)]?.end == nil)
            let stranger = try WireClient(port: port, from: 0x7f00_0003)
            #expect(try stranger.serverStats().watchingPeers == [])
            let reader = try WireClient(port: port)
            let hello = HelloRequest(serviceKey: keys.reader.bytes)
            #expect(try reader.refusal(.hello(hello)) == nil)
            #expect(
                try reader.serverStats().watchingPeers == [
                    WatchingPeer(peer: "127.0.0.2", watchCount: 3),
                    WatchingPeer(peer: "127.0.0.3", watchCount: 1),
                ]
            )
        }
    }
}
