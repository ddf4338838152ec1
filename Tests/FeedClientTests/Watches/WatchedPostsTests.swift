import FeedClient
import FeedProto
import FeedTestSupport
import Testing

/// What a reader of a watch sees: numbers of now in rows that stay.
@Suite(.timeLimit(.minutes(10))) struct WatchedPostsTests {
    private static func post(_ id: PostID, score: Int64 = 0) -> Post {
        Post(id: id, feed: "posts", title: "post \(id)", score: score)
    }

    /// A watch that is fed by hand: its copy, and the sequence that shows it.
    private final class Feed: Sendable {
        let mailbox = Locked<WatchMailbox?>(nil)
        let endCount = Locked(0)
        private let copy = Locked(WatchCopy(of: WatchPostsRequest(topCount: 3)))

        var sequence: WatchSequence {
            WatchSequence { [self] mailbox in
                self.mailbox.withLock { $0 = mailbox }
                mailbox.put(copy.withLock { $0 })
                return { [self] in endCount.withLock { $0 += 1 } }
            }
        }

        func apply(_ event: WatchPostsEvent) {
            let copy = copy.withLock { copy in
                copy.apply(event, revision: copy.revision + 1, isFirst: event.isReset)
                return copy
            }
            mailbox.withLock { $0 }?.put(copy)
        }
    }

    @Test func rowsStayUntilARefresh() async throws {
        let feed = Feed()
        feed.apply(.all([Self.post(4), Self.post(8), Self.post(5)]))
        let watch = feed.sequence
        var posts = watch.makeAsyncIterator()
        let first = try #require(try await posts.next())
        #expect(first.rows.map(\.id) == [4, 8, 5])
        #expect(!first.hasNewOrder && first.newPostCount == 0)

        var numbers = Post(id: 5, score: 3)
        numbers.revision = 7
        feed.apply(
            WatchPostsEvent(
                changed: [numbers, Self.post(9)],
                ranking: [5, 4, 9],
                removedIDs: [8],
                newPostCount: 2
            )
        )
        let second = try #require(try await posts.next())
        #expect(second.rows.map(\.id) == [4, 8, 5])
        #expect(second.rows.map(\.score) == [0, 0, 3])
        #expect(second.rows[2].title == "post 5")
        #expect(second.removedIDs == [8])
        #expect(second.ranking == [5, 4, 9])
        #expect(second.hasNewOrder)
        #expect(second.newPostCount == 2)

        watch.refresh()
        let third = try #require(try await posts.next())
        #expect(third.rows.map(\.id) == [5, 4, 9])
        #expect(third.removedIDs.isEmpty && !third.hasNewOrder && third.newPostCount == 0)
        // A value is refreshed for itself, too.
        var own = second
        own.refresh()
        #expect(own == third)
    }

    @Test func aListWithoutRowsFills() async throws {
        let feed = Feed()
        feed.apply(.all([]))
        var posts = feed.sequence.makeAsyncIterator()
        #expect(try await posts.next()?.rows == [])
        feed.apply(WatchPostsEvent(changed: [Self.post(4)], ranking: [4], newPostCount: 1))
        let filled = try #require(try await posts.next())
        #expect(filled.rows.map(\.id) == [4])
        #expect(!filled.hasNewOrder && filled.newPostCount == 0)
        // It has a row now, which stays.
        feed.apply(WatchPostsEvent(changed: [Self.post(5)], ranking: [5], removedIDs: [4]))
        let next = try #require(try await posts.next())
        #expect(next.rows.map(\.id) == [4])
        #expect(next.removedIDs == [4] && next.hasNewOrder)
    }

    @Test func aSlowReaderGetsTheNewestStateOnly() async throws {
        let feed = Feed()
        feed.apply(.all([Self.post(4)]))
        var posts = feed.sequence.makeAsyncIterator()
        _ = try await posts.next()
        for score in Int64(1)...1_000 {
            feed.apply(WatchPostsEvent(changed: [Post(id: 4, score: score)]))
        }
        #expect(try await posts.next()?.rows.map(\.score) == [1_000])
        feed.mailbox.withLock { $0 }?.end(.closed)
        #expect(await failure { try await posts.next() } == .closed)
        #expect(try await posts.next() == nil)
    }

    @Test func theNewestStateComesBeforeTheEnd() async throws {
        let feed = Feed()
        feed.apply(.all([Self.post(4)]))
        var posts = feed.sequence.makeAsyncIterator()
        _ = try await posts.next()
        feed.apply(WatchPostsEvent(changed: [Post(id: 4, score: 1)]))
        feed.mailbox.withLock { $0 }?.end(.closed)
        #expect(try await posts.next()?.rows.map(\.score) == [1])
        #expect(await failure { try await posts.next() } == .closed)
    }

    @Test func theEndOfAnIterationEndsItsWatch() async throws {
        let feed = Feed()
        feed.apply(.all([Self.post(4)]))
        for try await posts in feed.sequence {
            #expect(posts.rows.map(\.id) == [4])
            break
        }
        #expect(feed.endCount.withLock { $0 } == 1)
    }

    @Test func aCancelledTaskEndsItsWatch() async throws {
        let feed = Feed()
        let (began, beginning) = AsyncStream<Void>.makeStream()
        let task = Task {
            for try await _ in feed.sequence { beginning.yield() }
        }
        for await _ in began { break }
        task.cancel()
        #expect(await failure { try await task.value } == .cancelled(effect: .none))
        #expect(feed.endCount.withLock { $0 } > 0)
    }

    @Test func singlePostsKeepTheOrderOfTheirIDs() {
        var copy = WatchCopy(of: WatchPostsRequest(postIDs: [5, 9, 4, 5]))
        copy.apply(
            WatchPostsEvent(changed: [Self.post(4), Self.post(5)], removedIDs: [9], isReset: true),
            revision: 3,
            isFirst: true
        )
        #expect(copy.ranking == [5, 4])
        #expect(copy.isResumable)
        // A post that was restored from elsewhere under its id comes to its place.
        copy.apply(WatchPostsEvent(changed: [Self.post(9)]), revision: 4, isFirst: false)
        #expect(copy.ranking == [5, 9, 4])
    }
}

@Suite(.timeLimit(.minutes(10))) struct WatchFaultTests {
    /// Says how long a frame may be, and answers votes once there are two.
    private static func script(frameByteCount: UInt32) -> ScriptedService.Script {
        let held = Locked<[ClientFrame]>([])
        return { frame in
            if case .hello = frame.request {
                let hello = ScriptedService.hello(inFlight: 256, frameByteCount: frameByteCount)
                return [.answer(ServerFrame(id: frame.id, revision: 0, response: hello))]
            }
            return held.withLock { held in
                held.append(frame)
                return held.count < 2 ? [] : held.map(voteAnswer)
            }
        }
    }

    @Test(
        "a watch that does not fit into a frame ends, and a vote in flight is answered",
        arguments: [1_024, 1 << 20]
    )
    func endsAlone(limit: Int) async throws {
        let script = Self.script(frameByteCount: UInt32(limit))
        try await withScript(answersHello: false, script) { client, service in
            async let first = client.vote(on: 1, .up)
            var frames = service.received.makeAsyncIterator()
            _ = await frames.next()
            // The vote is in flight.
            _ = await frames.next()
            for watch in [
                PostWatch(.posts([PostID](repeating: .max, count: limit / 8))),
                PostWatch(.top(5), in: String(repeating: "x", count: limit)),
            ] {
                var iterator = client.watch(watch).makeAsyncIterator()
                let error = await failure { try await iterator.next() }
                guard case .requestTooLarge(let byteCount, limit) = error
                else { throw Unexpected(error) }
                #expect(byteCount > limit)
                #expect(try await iterator.next() == nil)
            }
            // A script that got a WatchPosts would reset the connection.
            let second = try await client.vote(on: 2, .up)
            #expect(second.postID == 2)
            let answered = try await first.postID
            #expect(answered == 1)
        }
    }
}
