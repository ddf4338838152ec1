import Dispatch
import FeedConcurrency
import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import FeedTransport
import Logging
import Testing

/// Watches whose clients are slow, whose disk is slow, and whose service stops.
@Suite(.timeLimit(.minutes(10)))
struct WatchDeliveryTests {
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
                for post in 1...UInt64(50) {
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
        let clock = ManualClock()
        try await withService {
            $0.loopClock = clock
        } _: { port in
            let client = try WatchingClient(port: port)
            let text = String(repeating: "y", count: 10_000)
            for number in 0..<200 {
                let post = Post(title: "\(number)", text: text)
                try client.call(.createPost(CreatePostRequest(post: post)))
            }
            let list = try client.watch(
                WatchPostsRequest(feed: "posts", order: .old, topCount: 100)
            )
            let posts = try client.watch(WatchPostsRequest(postIDs: Array(1...200)))
            #expect(try #require(client.copies[list]).posts.count < 100)
            for _ in 0..<3 { try client.advance(clock) }
            #expect(client.copies[list]?.list.map(\.id) == Array(1...100))
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
            let server = try FeedServer.start(
                configuration,
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
            )
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
