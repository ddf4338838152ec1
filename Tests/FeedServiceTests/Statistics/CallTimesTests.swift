import FeedConcurrency
import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// The times of calls that ask for them, on a clock that the test moves.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct CallTimesTests {
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
        try await withService {
            $0.loopClock = clock
        } _: { port in
            let client = try WireClient(port: port)
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
        try await withService { port in
            let client = try WireClient(port: port)
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
