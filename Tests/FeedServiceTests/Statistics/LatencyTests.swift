import FeedConcurrency
import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// The times of calls that ServerStats tells, on a clock that the test moves.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct LatencyTests {
    static func stats(_ client: WireClient) throws -> ServerStats {
        guard case .serverStats(let stats) = try client.call(.getServerStats).response else {
            throw Unanswered()
        }
        return stats
    }

    struct Unanswered: Error {}

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
            let stats = try Self.stats(client)
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
        try await withService { port in
            let client = try WireClient(port: port)
            let vote = CastVoteRequest(postID: try client.createPost(title: "a"), direction: .up)
            for _ in 0..<100 { try client.send(.castVote(vote)) }
            try client.send(.castVote(CastVoteRequest(postID: .max, direction: .up)))
            for _ in 0..<101 { _ = try client.receive() }
            let stats = try Self.stats(client)
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
        try await withService {
            $0.loopClock = clock
            passwords.install(&$0)
        } _: { port in
            let client = try WireClient(port: port)
            try client.send(.signUp(SignUpRequest(email: "a@x", password: "password")))
            passwords.begun.wait()
            clock.advance(by: .seconds(2))
            passwords.gate.signal()
            #expect(try client.receive()?.status == nil)
            let stats = try Self.stats(client)
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
            _ = try Self.stats(client)
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
        try await withService(logger: lines.logger) {
            $0.loopClock = clock
            $0.limits.slowCallTime = .seconds(1)
            passwords.install(&$0)
        } _: { port in
            let client = try WireClient(port: port)
            try client.send(.signUp(SignUpRequest(email: "a@x", password: "password")))
            passwords.begun.wait()
            clock.advance(by: .seconds(2))
            passwords.gate.signal()
            #expect(try client.receive()?.status == nil)
            _ = try Self.stats(client)
        }
        let slow = lines.all.filter { $0.contains("slow: ") }
        #expect(slow.count == 1)
        #expect(slow.first?.hasPrefix("warning: slow: sign_up 1 from 127.0.0.1:") == true)
        #expect(slow.first?.hasSuffix(" took 2000 ms, held for 0 ms of them") == true, "\(slow)")
    }
}
