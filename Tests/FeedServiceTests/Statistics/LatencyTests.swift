import FeedConcurrency
import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// The times of calls that ServerStats tells, on a clock that the test moves.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LatencyTests {
    @Test func aCallTakesAsLongAsItsAnswerIsHeld() async throws {
        let clock = ManualClock()
        try await withGatedService {
            $0.loopClock = clock
        } _: { port, gate in
            var generator = SeededGenerator(seed: 14)
            let client = try WireClient(port: port)
            let vote = CastVoteRequest(postID: try client.createPost(title: "a"), direction: .up)
            var times: [UInt64] = []
            for _ in 0..<40 {
                let bits = UInt64.random(in: 1...28, using: &generator)
                let time = UInt64.random(in: 1...(1 << bits), using: &generator)
                times.append(time)
                gate.close()
                try client.send(.castVote(vote))
                try gate.awaitHeldAnswer(port)
                clock.advance(by: .nanoseconds(time))
                gate.open()
                #expect(try client.receive()?.status == nil)
            }
            times.sort()
            let stats = try client.serverStats()
            let votes = try #require(stats.latencies.first { $0.method == "cast_vote" })
            #expect(votes.answerCount == 40)
            #expect(votes.maximumNanoseconds == times.last)
            for (told, share) in [
                (votes.medianNanoseconds, 5_000), (votes.p90Nanoseconds, 9_000),
                (votes.p99Nanoseconds, 9_900), (votes.p999Nanoseconds, 9_990),
            ] as [(UInt64, UInt64)] {
                let exact = LatencyCountsTests.exact(times, tenThousandths: share)
                #expect(told >= exact && told <= exact + max(exact / 16, 64), "\(share)")
            }
            // The create was held, too, for no time.
            let held = try #require(stats.heldTime)
            #expect(held.answerCount == 41)
            #expect(held.maximumNanoseconds == times.last)
        }
    }

    @Test func aRunOfVotesIsTimedWhole() async throws {
        try await withClient { client in
            let vote = CastVoteRequest(postID: try client.createPost(title: "a"), direction: .up)
            for _ in 0..<100 { try client.send(.castVote(vote)) }
            try client.send(.castVote(CastVoteRequest(postID: .max, direction: .up)))
            for _ in 0..<101 { _ = try client.receive() }
            let stats = try client.serverStats()
            #expect(stats.latencies.map(\.method) == ["create_post", "cast_vote"])
            #expect(stats.latencies.map(\.answerCount) == [1, 101])
            #expect(stats.latencies.allSatisfy { $0.medianNanoseconds > 0 })
            #expect(stats.heldTime == nil)
            #expect(stats.methods.first { $0.method == "cast_vote" }?.requestCount == 101)
        }
    }

    @Test func aSignInIsTimedFromItsArrival() async throws {
        let clock = ManualClock()
        let passwords = CountedPasswords(isGated: true)
        try await withClient {
            $0.loopClock = clock
            passwords.install(&$0)
        } _: { client in
            try client.send(.signUp(SignUpRequest(email: "a@x", password: "password")))
            passwords.begun.wait()
            clock.advance(by: .seconds(2))
            passwords.gate.signal()
            #expect(try client.receive()?.status == nil)
            let stats = try client.serverStats()
            let signUp = try #require(stats.latencies.first { $0.method == "sign_up" })
            #expect(signUp.answerCount == 1)
            #expect(signUp.maximumNanoseconds == 2_000_000_000)
        }
    }

    @Test("a call is logged that takes longer than the flag says, with the time it was held")
    func slowCallsAreLogged() async throws {
        let clock = ManualClock()
        let lines = LoggedLines()
        try await withGatedService(logger: lines.logger) {
            $0.loopClock = clock
            $0.limits.slowCallTime = .milliseconds(100)
        } _: { port, gate in
            let client = try WireClient(port: port)
            let vote = CastVoteRequest(postID: try client.createPost(title: "a"), direction: .up)
            for (id, milliseconds) in [(2, 100), (3, 101)] as [(UInt64, Int)] {
                gate.close()
                #expect(try client.send(.castVote(vote)) == id)
                try gate.awaitHeldAnswer(port)
                clock.advance(by: .milliseconds(milliseconds))
                gate.open()
                #expect(try client.receive()?.status == nil)
            }
            // Its own time is counted before the next call is read.
            _ = try client.serverStats()
        }
        let slow = lines.all.filter { $0.contains("slow: ") }
        #expect(slow.count == 1)
        #expect(slow.first?.hasPrefix("warning: slow: cast_vote 3 from 127.0.0.1:") == true)
        #expect(slow.first?.hasSuffix(" took 101 ms, held for 101 ms of them") == true, "\(slow)")
    }

    @Test("the answer that was not held is logged, too")
    func aSlowSignInIsLogged() async throws {
        let clock = ManualClock()
        let passwords = CountedPasswords(isGated: true)
        let lines = LoggedLines()
        try await withClient(logger: lines.logger) {
            $0.loopClock = clock
            $0.limits.slowCallTime = .seconds(1)
            passwords.install(&$0)
        } _: { client in
            try client.send(.signUp(SignUpRequest(email: "a@x", password: "password")))
            passwords.begun.wait()
            clock.advance(by: .seconds(2))
            passwords.gate.signal()
            #expect(try client.receive()?.status == nil)
            _ = try client.serverStats()
        }
        let slow = lines.all.filter { $0.contains("slow: ") }
        #expect(slow.count == 1)
        #expect(slow.first?.hasPrefix("warning: slow: sign_up 1 from 127.0.0.1:") == true)
        #expect(slow.first?.hasSuffix(" took 2000 ms, held for 0 ms of them") == true, "\(slow)")
    }
}

/// The buckets and percentiles of times, beside a model that keeps every time.
struct LatencyCountsTests {
    static let shares: [UInt64] = [0, 1, 5_000, 9_000, 9_900, 9_990, 10_000]

    /// The time of the exact rank in a sorted list.
    static func exact(_ sorted: [UInt64], tenThousandths: UInt64) -> UInt64 {
        let rank = (Double(sorted.count) * Double(tenThousandths) / 10_000).rounded(.up)
        return sorted[max(1, Int(rank)) - 1]
    }

    @Test func bucketsFollowOneAnotherWithoutAGap() {
        var bucket = 0
        while let last = LatencyHistogram.lastNanosecond(of: bucket) {
            #expect(LatencyHistogram.bucket(of: last) == bucket)
            #expect(LatencyHistogram.bucket(of: last + 1) == bucket + 1)
            bucket += 1
        }
        #expect(bucket == LatencyHistogram.bucketCount - 1)
        #expect(LatencyHistogram.bucket(of: .max) == bucket)
        #expect(LatencyHistogram.bucket(of: 0) == 0)
    }

    @Test(arguments: TestEnvironment.seeds(1...20))
    func percentilesAreThoseOfAnExactModel(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let loops = (0..<3).map { _ in LatencyHistogram() }
        var times: [UInt64] = []
        for _ in 0..<Int.random(in: 1...3_000, using: &generator) {
            // From nanoseconds to minutes, each order of magnitude as often as the others.
            let bits = UInt64.random(in: 0...36, using: &generator)
            let time = UInt64.random(in: 0...(1 << bits), using: &generator)
            let count = Int.random(in: 1...64, using: &generator)
            loops[Int.random(in: 0..<3, using: &generator)].count(count, nanoseconds: time)
            times += repeatElement(time, count: count)
        }
        times.sort()
        let counts = LatencyCounts(loops)
        #expect(counts.count == UInt64(times.count))
        #expect(counts.sumNanoseconds == times.reduce(0, +))
        #expect(counts.maximumNanoseconds == times.last)
        for share in Self.shares {
            let told = counts.nanoseconds(tenThousandths: share)
            let exact = Self.exact(times, tenThousandths: share)
            let error = max(exact / 16, LatencyHistogram.unitNanoseconds)
            #expect(
                told >= exact && told <= min(exact + error, times.last ?? 0),
                "FEED_SEED=\(seed): \(share) is \(told), exactly \(exact)"
            )
        }
    }

    @Test func nothingTakesNoTime() {
        let counts = LatencyCounts([LatencyHistogram()])
        #expect(Self.shares.allSatisfy { counts.nanoseconds(tenThousandths: $0) == 0 })
    }
}

/// The times of calls that ask for them, on a clock that the test moves.
@Suite(.serialized, .timeLimit(.minutes(10))) struct CallTimesTests {
    @Test("a held answer says when it is released, and one that nobody asked for says nothing")
    func aHeldAnswerIsTimed() async throws {
        let clock = ManualClock()
        try await withGatedService {
            $0.loopClock = clock
        } _: { port, gate in
            let client = try WireClient(port: port)
            let post = try client.createPost(title: "a")
            let vote = Request.castVote(CastVoteRequest(postID: post, direction: .up))
            gate.close()
            // The clock begins at 0, which a time that nobody has set is too.
            clock.advance(by: .seconds(3))
            let start = clock.now.nanoseconds
            // Written at once, so that one loop iteration has all of them.
            let asks = [false, true, true, false, true]
            var bytes: [UInt8] = []
            for (number, isTimed) in asks.enumerated() {
                let id = UInt64(100 + number)
                bytes += try ClientFrame(id: id, request: vote, isTimed: isTimed).encoded()
            }
            try client.socket.send(bytes)
            try gate.awaitHeldAnswer(port)
            clock.advance(by: .milliseconds(7))
            gate.open()
            for (number, isTimed) in asks.enumerated() {
                let answer = try #require(try client.receive())
                #expect(answer.id == UInt64(100 + number) && answer.status == nil)
                let expected = CallTimes(
                    receivedNanoseconds: start,
                    executedNanoseconds: start,
                    releasedNanoseconds: start + 7_000_000
                )
                #expect(answer.times == (isTimed ? expected : nil), "\(number)")
            }
        }
    }

    @Test("reads, refusals and repeats are timed, also where no answer is held")
    func everyCallOfALoopIsTimed() async throws {
        let clock = ManualClock()
        try await withClient {
            $0.loopClock = clock
        } _: { client in
            _ = try client.hello(clientID: Array(repeating: 7, count: 16), channel: 1)
            let post = try client.createPost(title: "a")
            clock.advance(by: .seconds(1))
            let now = clock.now.nanoseconds
            let times = CallTimes(
                receivedNanoseconds: now,
                executedNanoseconds: now,
                releasedNanoseconds: now
            )
            let vote = Request.castVote(CastVoteRequest(postID: post, direction: .up))
            let votes = [CastVoteRequest(postID: post, direction: .up)]
            for (request, sequence) in [
                (.getPost(GetPostRequest(id: post)), 0), (vote, 0), (vote, 1), (vote, 1),
                (.castVote(CastVoteRequest(postID: .max, direction: .up)), 0),
                (.batchCastVotes(BatchCastVotesRequest(votes: votes)), 0),
                (.listPosts(ListPostsRequest(order: .top)), 0), (.listFeeds, 0), (nil, 0),
            ] as [(Request?, UInt64)] {
                try client.send(request, sequence: sequence, isTimed: true)
                let answer = try #require(try client.receive())
                #expect(answer.times == times, "\(String(describing: request))")
                try client.send(request, sequence: sequence)
                let untimed = try #require(try client.receive())
                #expect(untimed.times == nil)
                #expect(untimed.status?.reason == answer.status?.reason)
            }
        }
    }

    @Test("the times lie between the send and the answer, by the clock of the machine")
    func timesAreInOrder() async throws {
        try await withClient { client in
            let sent = MonotonicInstant.now.nanoseconds
            try client.send(.ping(PingRequest()), isTimed: true)
            let times = try #require(try client.receive()?.times)
            let answered = MonotonicInstant.now.nanoseconds
            let order = [
                sent, times.receivedNanoseconds, times.executedNanoseconds,
                times.releasedNanoseconds, answered,
            ]
            #expect(order == order.sorted())
        }
    }
}
