import Dispatch
import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Foundation
import Testing

/// The sequences that a service takes, and its refusals of the others.
@Suite(.timeLimit(.minutes(10))) struct SequenceRuleTests {
    typealias Support = ExactlyOnceTests

    static func refusal(
        _ answer: ServerFrame,
        _ reason: Reason,
        notExecuted: Bool,
        code: StatusCode = .failedPrecondition
    ) throws {
        let status = try #require(answer.status)
        #expect(status.reason == reason)
        #expect(status.code == code)
        #expect(status.isNotExecuted == notExecuted)
    }

    @Test func anotherCallWithASequenceIsRefused() async throws {
        try await withService { port in
            let client = try Support.connect(port)
            let id = try client.createPost(title: "a")
            #expect(try client.call(Support.vote(id), sequence: 1).status == nil)
            for other in [
                Support.vote(id, .down), Support.vote(2),
                .deletePost(DeletePostRequest(id: id)),
                .batchCastVotes(
                    BatchCastVotesRequest(votes: [CastVoteRequest(postID: id, direction: .up)])
                ),
            ] {
                try Self.refusal(
                    client.call(other, sequence: 1),
                    .sequenceReused,
                    notExecuted: false
                )
            }
            #expect(try client.vote(id).upvoteCount == 2)
        }
    }

    /// A client that writes its fields in another order when it sends again says the same.
    @Test func theSameContentInAnotherFormIsTheSameCall() async throws {
        try await withService { port in
            let client = try Support.connect(port)
            let title = RawMessage().field(4, Array("Apple".utf8))
            let link = RawMessage().field(6, Array("http://a".utf8))
            let feed = RawMessage().field(1, Array("posts".utf8))
            let forms = [
                feed.field(2, title.raw(link.bytes)),
                RawMessage().field(2, link.raw(title.bytes)).raw(feed.bytes),
            ]
            var ids: [PostID] = []
            for form in forms {
                let frame = RawMessage().field(1, client.nextID()).field(3, 1)
                try client.socket.send(frame.field(30, form).framed)
                ids.append(try Support.post(try #require(try client.receive())).id)
            }
            #expect(ids == [1, 1])
            let other = RawMessage().field(2, title).raw(feed.bytes)
            let frame = RawMessage().field(1, client.nextID()).field(3, 1).field(30, other)
            try client.socket.send(frame.framed)
            try Self.refusal(
                try #require(try client.receive()),
                .sequenceReused,
                notExecuted: false
            )
        }
    }

    @Test func whatIsForgottenIsNotExecutedAgain() async throws {
        try await withService { port in
            let client = try Support.connect(port)
            let id = try client.createPost(title: "a")
            #expect(try client.call(Support.vote(id), sequence: 1).status == nil)
            #expect(try client.call(Support.vote(id), sequence: 257).status == nil)
            try Self.refusal(
                client.call(Support.vote(id), sequence: 1),
                .sequenceExpired,
                notExecuted: false
            )
            #expect(try Support.upvotes(client.call(Support.vote(id), sequence: 2)) == 3)
        }
    }

    @Test func gapsMayBeFilledInAnyOrder() async throws {
        try await withService { port in
            let client = try Support.connect(port)
            let id = try client.createPost(title: "a")
            var count: UInt64 = 0
            for sequence in [5, 1, 4, 2, 9, 3, 250] as [UInt64] {
                count += 1
                let answer = try client.call(Support.vote(id), sequence: sequence)
                #expect(try Support.upvotes(answer) == count)
            }
            for sequence in [5, 1, 4, 2, 9, 3, 250] as [UInt64] {
                let answer = try client.call(Support.vote(id), sequence: sequence)
                #expect(try Support.upvotes(answer) == count)
            }
        }
    }

    @Test func aLaterHelloFencesTheConnectionBefore() async throws {
        try await withService(threads: 2) { port in
            let old = try Support.connect(port)
            let id = try old.createPost(title: "a")
            #expect(try old.call(Support.vote(id), sequence: 1).status == nil)
            let new = try Support.connect(port)
            for sequence in [1, 2] as [UInt64] {
                try Self.refusal(
                    old.call(Support.vote(id), sequence: sequence),
                    .channelFenced,
                    notExecuted: true
                )
            }
            let delete = Request.deletePost(DeletePostRequest(id: id))
            try Self.refusal(old.call(delete, sequence: 3), .channelFenced, notExecuted: true)
            // Without a sequence there is nothing to fence.
            #expect(try old.vote(id).upvoteCount == 2)
            #expect(try Support.upvotes(new.call(Support.vote(id), sequence: 1)) == 2)
            #expect(try Support.upvotes(new.call(Support.vote(id), sequence: 2)) == 3)
        }
    }

    @Test func aSequenceNeedsAnIdentity() async throws {
        try await withClient { client in
            let id = try client.createPost(title: "a")
            for request in [Support.vote(id), .deletePost(DeletePostRequest(id: id))] {
                try Self.refusal(
                    client.call(request, sequence: 1),
                    .identityRequired,
                    notExecuted: true,
                    code: .unauthenticated
                )
            }
            try Support.helloed(client)
            #expect(try client.call(Support.vote(id), sequence: 1).status == nil)
            // An anonymous Hello gives the channel back.
            _ = try client.hello()
            try Self.refusal(
                client.call(Support.vote(id), sequence: 1),
                .identityRequired,
                notExecuted: true,
                code: .unauthenticated
            )
        }
    }

    @Test func aCallThatChangesNothingTakesNone() async throws {
        try await withService { port in
            let client = try Support.connect(port)
            for request in [
                .hello(HelloRequest()), .ping(PingRequest()), .getPost(GetPostRequest(id: 1)),
                .listPosts(ListPostsRequest()), .listFeeds, .getServerStats, .backup,
                .correctTimes(CorrectTimesRequest(appliesCorrection: true)),
                .deletePosts(DeletePostsRequest(authorID: 1, deletesPosts: true)),
            ] as [Request] {
                let answer = try client.call(request, sequence: 1)
                #expect(answer.status?.reason == .badField)
                #expect(answer.status?.violations.first?.field == "sequence")
            }
            #expect(try client.call(nil, sequence: 1).status?.reason == .unknownMethod)
        }
    }

    @Test func aRepeatIsAnsweredWhileChangesAreRefused() async throws {
        let budget = BufferBudget(limitByteCount: 256 << 10)
        try await withService {
            $0.budget = budget
        } _: { port in
            let client = try Support.connect(port)
            let id = try OverloadTests.createLargePost(client)
            #expect(try client.call(Support.vote(id), sequence: 1).status == nil)
            let votes = [CastVoteRequest(postID: id, direction: .up)]
            let batch = Request.batchCastVotes(
                BatchCastVotesRequest(votes: votes + [CastVoteRequest(postID: 2, direction: .up)])
            )
            #expect(try client.call(batch, sequence: 2).status == nil)
            budget.addReserved((256 << 10) + 1)
            #expect(try client.call(Support.vote(id), sequence: 3).status?.reason == .overloaded)
            #expect(try Support.upvotes(client.call(Support.vote(id), sequence: 1)) == 2)
            // The answer to a batch has the counted votes, and refuses the others.
            let results = try NumberedBatchTests.results(client.call(batch, sequence: 2))
            #expect(results[0].vote?.upvoteCount == 2)
            #expect(results[1].status?.reason == .overloaded)
        }
    }

    @Test func aChannelIsForgottenAfterItsConnectionClosed() async throws {
        try await withService { configuration in
            configuration.limits.channels.retention = .zero
        } _: { port in
            let client = try Support.connect(port)
            _ = try Support.connect(port, channel: 1).socket
            // Each look at the table comes a second after the one before.
            var count: UInt64 = 2
            while count != 1 {
                let stats = try client.serverStats()
                count = stats.channelCount
            }
            #expect(try Support.helloed(client).isClientKnown)
            #expect(!(try Support.helloed(WireClient(port: port), channel: 1).isClientKnown))
        }
    }
}

/// Connections that say Hello and get no channel: the answer has the reason.
@Suite(.timeLimit(.minutes(10))) struct MissingChannelTests {
    typealias Support = ExactlyOnceTests

    /// Two connections hold the two channels that there may be; a third one says Hello.
    @Test func aHelloWithoutAChannelIntroducesTheDevice() async throws {
        try await withService { configuration in
            // Of three quarters the host takes 256 bytes, and each of two channels as many.
            configuration.limits.channels.byteCount = 1200
        } _: { port in
            let client = try Support.connect(port)
            let other = try Support.connect(port, channel: 1)
            let feed = Feed(name: "ballots", voteMode: .ballot)
            #expect(try client.call(.createFeed(CreateFeedRequest(feed: feed))).status == nil)
            let id = try client.createPost(title: "a", feed: "ballots")
            let third = try WireClient(port: port)
            let hello = try Support.helloed(third, channel: 2)
            #expect(!hello.capabilities.contains(.exactlyOnce))
            #expect(hello.channelStatus?.reason == .tooManyChannels)
            #expect(!hello.isClientKnown)
            let refused = try #require(try third.call(Support.vote(id), sequence: 1).status)
            #expect(refused.reason == .tooManyChannels)
            #expect(refused.isNotExecuted)
            #expect(refused.retryAfterMilliseconds > 0)
            // Its ballots count, and existing channels are served.
            #expect(try third.vote(id).upvoteCount == 1)
            let again = try Support.helloed(client)
            #expect(again.isClientKnown && again.channelStatus == nil)
            let stats = try client.serverStats()
            #expect(stats.channelCount == 2 && stats.refusedChannelCount == 2)
            #expect(stats.channelByteCount <= 1200)
            // With room for it, the same connection has its channel without another Hello.
            _ = try other.hello()
            #expect(try third.call(Support.vote(id), sequence: 1).status == nil)
            #expect(try Support.helloed(third, channel: 2).lastSequence == 1)
        }
    }

    @Test func aChannelThatAnotherTookMeanwhileIsFenced() async throws {
        try await withService { configuration in
            configuration.limits.channels.byteCount = 1200
        } _: { port in
            let client = try Support.connect(port)
            let other = try Support.connect(port, channel: 1)
            let id = try client.createPost(title: "a")
            let early = try WireClient(port: port)
            #expect(try Support.helloed(early, channel: 2).channelStatus != nil)
            _ = try other.hello()
            let late = try Support.connect(port, channel: 2)
            #expect(try late.call(Support.vote(id), sequence: 1).status == nil)
            try SequenceRuleTests.refusal(
                early.call(Support.vote(id), sequence: 2),
                .channelFenced,
                notExecuted: true
            )
        }
    }

    /// The cause is the real one, and the channel is there once changes are taken.
    @Test func aHelloWhileChangesAreRefusedSaysWhy() async throws {
        let offset = Locked<Int64>(0)
        try await withService {
            $0.timeOfDay = { Int64(Date.now.timeIntervalSince1970 * 1000) + offset.withLock { $0 } }
        } _: { port in
            let known = try Support.connect(port)
            let id = try known.createPost(title: "a")
            offset.withLock { $0 = 3_600_000 }
            let isRefused = { () throws -> Bool in
                try known.call(Support.vote(id)).status?.reason == .clockJumped
            }
            while try !isRefused() {}
            let client = try WireClient(port: port)
            let hello = try Support.helloed(client, channel: 3)
            #expect(hello.channelStatus?.reason == .clockJumped)
            #expect(hello.channelStatus?.retryAfterMilliseconds ?? 0 > 0)
            try SequenceRuleTests.refusal(
                client.call(Support.vote(id), sequence: 1),
                .clockJumped,
                notExecuted: true,
                code: .unavailable
            )
            // A channel that is known needs no change.
            #expect(try Support.helloed(known).channelStatus == nil)
            offset.withLock { $0 = 0 }
            while try isRefused() {}
            let first = try Support.upvotes(client.call(Support.vote(id), sequence: 1))
            #expect(try Support.upvotes(client.call(Support.vote(id), sequence: 1)) == first)
            #expect(try Support.helloed(client, channel: 3).lastSequence == 1)
        }
    }
}

/// Connections on several loops that take one channel from each other all the time.
@Suite(.timeLimit(.minutes(10))) struct ChannelFightTests {
    static let fighterCount = 3
    static let voteCount: UInt64 = 20_000

    /// Vote number s has the sequence s on every connection, so each vote is executed once in all.
    @Test func everyVoteCountsOnce() async throws {
        try await withService(threads: 2) { port in
            let observer = try WireClient(port: port)
            let id = try observer.createPost(title: "a")
            let failures = Locked<[String]>([])
            DispatchQueue.concurrentPerform(iterations: Self.fighterCount) { _ in
                do { try Self.fight(port, for: id) } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            #expect(failures.withLock { $0 } == [])
            #expect(try observer.vote(id).upvoteCount == Self.voteCount + 1)
        }
    }

    /// Takes the channel over and continues after its last vote, until all votes are cast.
    private static func fight(_ port: UInt16, for id: PostID) throws {
        let client = try WireClient(port: port)
        while true {
            let last = try ExactlyOnceTests.helloed(client).lastSequence
            guard last < voteCount else { return }
            // The last ones once more: the connection that cast them may not have their answers.
            let first = last < 10 ? 1 : last - 9
            let sequences = first...min(voteCount, last + 200)
            var bytes: [UInt8] = []
            for sequence in sequences {
                bytes += try ClientFrame(
                    id: client.nextID(),
                    request: ExactlyOnceTests.vote(id),
                    sequence: sequence
                ).encoded()
            }
            try client.socket.send(bytes)
            var isFenced = false
            for _ in sequences {
                let status = try #require(try client.receive()).status
                // Once fenced, a connection stays so.
                guard let status else {
                    #expect(!isFenced)
                    continue
                }
                #expect(status.reason == .channelFenced)
                isFenced = true
            }
        }
    }
}
