import CMallocHook
import FeedJournal
import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import FeedTransport
import Foundation
import Testing

/// A vote takes no memory from the heap: not in reading, decoding, counting, encoding or writing.
///
/// Each test runs in a process of its own, in which nothing else allocates.
@Suite(.serialized, .timeLimit(.minutes(10))) struct AllocationTests {
    static let postCount = 100_000
    static let votesPerBatch = 64
    /// Enough that every stripe has been refreshed and has the memory for it.
    static let warmUpBatches = 20_000

    @Test(.enabled(if: malloc_hook_is_active(), "a sanitizer brings a malloc of its own"))
    func countsAMillionVotesWithoutAllocating() async {
        await #expect(processExitsWith: .success) {
            let count = try await Self.allocationCount(batches: 1_000_000 / Self.votesPerBatch) {
                CastVoteRequest(
                    postID: PostID(rawValue: UInt64($0 % Self.postCount) + 1),
                    direction: .up
                )
            }
            print("allocations in a million votes: \(count)")
            exit(count == 0 ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test(.enabled(if: malloc_hook_is_active(), "a sanitizer brings a malloc of its own"))
    func countsAMillionNumberedVotesWithoutAllocating() async {
        await #expect(processExitsWith: .success) {
            let count = try await Self.allocationCount(
                batches: 1_000_000 / Self.votesPerBatch,
                isNumbered: true
            ) {
                CastVoteRequest(
                    postID: PostID(rawValue: UInt64($0 % Self.postCount) + 1),
                    direction: .up
                )
            }
            print("allocations in a million numbered votes: \(count)")
            exit(count == 0 ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    /// Ballots that a service casts for users, who have voted before.
    @Test(.enabled(if: malloc_hook_is_active(), "a sanitizer brings a malloc of its own"))
    func countsBallotsOfUsersWithoutAllocating() async {
        await #expect(processExitsWith: .success) {
            let batches = 200_000 / Self.votesPerBatch
            let count = try await Self.allocationCount(batches: batches, after: 3_000, users: 50) {
                // Each user votes on each of 100 posts, up and down by turns.
                CastVoteRequest(
                    postID: PostID(rawValue: UInt64($0 / 50 % 100) + 1),
                    direction: $0 / 5_000 % 2 == 0 ? .up : .down
                )
            }
            print("allocations in \(batches * Self.votesPerBatch) ballots of users: \(count)")
            exit(count == 0 ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    /// Journaled votes: the threads behind the loop take memory, the loop's own does not.
    @Test(.enabled(if: malloc_hook_is_active(), "a sanitizer brings a malloc of its own"))
    func countsDurableVotesWithoutAllocatingOnTheLoop() async {
        await #expect(processExitsWith: .success) {
            let votes = 200_000
            let count = try await Self.loopAllocationCount(batches: votes / Self.votesPerBatch)
            print("allocations of the loop in \(votes) durable votes: \(count)")
            // Those of the two creates that it is measured between.
            exit(count < 200 ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    /// Votes in batches of 256, numbered or not: a channel's first batch takes room for its outcome.
    @Test(
        .enabled(if: malloc_hook_is_active(), "a sanitizer brings a malloc of its own"),
        arguments: [false, true]
    )
    func countsBatchedVotesWithoutAllocating(isNumbered: Bool) async {
        await #expect(processExitsWith: .success) { [isNumbered] in
            let count = try await Self.batchAllocationCount(batches: 4_000, isNumbered: isNumbered)
            print("allocations in 4,000 batches of 256 votes: \(count)")
            exit(count == 0 ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    /// The count would be of no use if it did not see what does allocate: refusals have texts.
    @Test(.enabled(if: malloc_hook_is_active(), "a sanitizer brings a malloc of its own"))
    func seesWhatAllocates() async {
        await #expect(processExitsWith: .success) {
            let count = try await Self.allocationCount(batches: 10, after: 10) { _ in
                CastVoteRequest(postID: .max, direction: .up)
            }
            exit(count >= 10 * Self.votesPerBatch ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    /// How often the service asks for memory while it answers so many batches of votes.
    static func allocationCount(
        batches: Int,
        after warmUpBatches: Int = warmUpBatches,
        isNumbered: Bool = false,
        users: Int = 0,
        _ vote: @escaping @Sendable (Int) -> CastVoteRequest
    ) async throws -> Int {
        let result = Box()
        try await withClient { client in
            _ = try client.hello(clientID: .init(repeating: 1, count: 16))
            let feed = Feed(name: "polls", voteMode: .ballot, voters: .users)
            _ = try client.call(.createFeed(CreateFeedRequest(feed: feed)))
            for number in 0..<postCount {
                _ = try client.createPost(title: "\(number)", feed: users > 0 ? "polls" : "")
            }
            // Orders that were asked for are kept, so votes meet head boundaries and leave stale
            // posts.
            for order in [Order.top, .new, .hot] {
                _ = try client.list(ListPostsRequest(feed: "posts", order: order))
                _ = try client.list(ListPostsRequest(order: order))
            }
            try exchange(client, batches: warmUpBatches, isNumbered, users: users, vote)
            let before = malloc_hook_process_count() - malloc_hook_count()
            try exchange(client, batches: batches, isNumbered, users: users, vote)
            let after = malloc_hook_process_count() - malloc_hook_count()
            result.value = Int(after - before)
        }
        return result.value
    }

    /// How often the service asks for memory while it answers so many batches of 256 votes.
    static func batchAllocationCount(batches: Int, isNumbered: Bool) async throws -> Int {
        let result = Box()
        try await withClient { client in
            _ = try client.hello(clientID: .init(repeating: 1, count: 16))
            for number in 0..<10_000 { _ = try client.createPost(title: "\(number)") }
            _ = try client.list(ListPostsRequest(feed: "posts", order: .top))
            try exchangeBatches(client, count: 1_000, isNumbered)
            let before = malloc_hook_process_count() - malloc_hook_count()
            try exchangeBatches(client, count: batches, isNumbered)
            let after = malloc_hook_process_count() - malloc_hook_count()
            result.value = Int(after - before)
        }
        return result.value
    }

    /// Sends batches of votes and takes their answers, on this thread.
    private static func exchangeBatches(
        _ client: WireClient,
        count: Int,
        _ isNumbered: Bool
    ) throws {
        for number in 0..<count {
            let votes = (0..<256).map {
                CastVoteRequest(
                    postID: PostID(rawValue: UInt64((number * 256 + $0) % 10_000) + 1),
                    direction: .up
                )
            }
            let id = client.nextID()
            let request = Request.batchCastVotes(BatchCastVotesRequest(votes: votes))
            try client.send(ClientFrame(id: id, request: request, sequence: isNumbered ? id : 0))
            _ = try client.receive()
        }
    }

    /// How often the loop's thread of a durable service asks for memory while it answers so many
    /// batches of numbered votes, and two creates.
    static func loopAllocationCount(batches: Int) async throws -> Int {
        let result = Box()
        let directory = try TemporaryDirectory()
        let onLoop = Locked<UInt64>(0)
        try await withClient {
            $0.state = StateOptions(path: directory.path, logCount: 1)
            $0.state?.durability = .os
            // A create asks for the time on the loop's thread, whose count is read there.
            $0.timeOfDay = {
                onLoop.withLock { $0 = malloc_hook_count() }
                return Int64(Date.now.timeIntervalSince1970 * 1000)
            }
        } _: { client in
            _ = try client.hello(clientID: .init(repeating: 1, count: 16))
            var ids: [PostID] = []
            for number in 0..<256 { ids.append(try client.createPost(title: "\(number)")) }
            let vote = { [ids] in CastVoteRequest(postID: ids[$0 % ids.count], direction: .up) }
            try exchange(client, batches: 3_000, true, vote)
            _ = try client.createPost(title: "before")
            let before = onLoop.withLock { $0 }
            try exchange(client, batches: batches, true, vote)
            _ = try client.createPost(title: "after")
            result.value = Int(onLoop.withLock { $0 } - before)
        }
        return result.value
    }

    /// Sends batches of votes and takes their answers, on this thread.
    private static func exchange(
        _ client: WireClient,
        batches: Int,
        _ isNumbered: Bool,
        users: Int = 0,
        _ vote: (Int) -> CastVoteRequest
    ) throws {
        var number = 0
        for _ in 0..<batches {
            var encoder = FrameEncoder()
            for _ in 0..<votesPerBatch {
                number += 1
                let id = client.nextID()
                try encoder.append(
                    ClientFrame(
                        id: id,
                        request: .castVote(vote(number)),
                        sequence: isNumbered ? id : 0,
                        actingUserID: users > 0 ? .ofService(UInt64(number % users)) : 0
                    )
                )
            }
            try client.socket.send(encoder.bytes())
            for _ in 0..<votesPerBatch { _ = try client.receive() }
        }
    }

    private final class Box: @unchecked Sendable {
        var value = 0
    }
}

/// When memory is given back to the system.
@Suite struct MemoryReturnTests {
    private let budget = BufferBudget(limitByteCount: 800)
    private let trims: Locked<Int>
    private let memory: MemoryReturn

    private var trimCount: Int { trims.withLock { $0 } }

    init() {
        let trims = Locked(0)
        self.trims = trims
        memory = MemoryReturn { trims.withLock { $0 += 1 } }
    }

    /// Lets seconds pass with so many bytes of channels; the trims so far.
    private func look(_ seconds: Int, channels: Int = 0, forgetsSoon: Bool = false) -> Int {
        for _ in 0..<seconds {
            memory.giveBack(after: budget, channelByteCount: channels, forgetsSoon: forgetsSoon)
        }
        return trimCount
    }

    @Test func givesMemoryBackOnceAPeakIsOverForAWhile() {
        #expect(look(60) == 0)
        budget.addReserved(400)
        #expect(look(60) == 0)
        budget.addReserved(-390)
        #expect(look(MemoryReturn.calmSeconds - 1) == 0)
        #expect(look(1) == 1)
        #expect(look(60) == 1)
    }

    /// A flood of handshakes holds nothing but what OpenSSL has for it.
    @Test(arguments: [(MemoryReturn.plainByteCount, 0), (MemoryReturn.securedByteCount, 1)])
    func connectionsWithTLSAreAPeak(byteCount: Int, expectedCount: Int) {
        let budget = BufferBudget(limitByteCount: 192 << 20)
        let memory = MemoryReturn(connectionByteCount: byteCount) { [trims] in
            trims.withLock { $0 += 1 }
        }
        memory.giveBack(after: budget, connectionCount: 2_000)
        for _ in 0..<60 { memory.giveBack(after: budget, connectionCount: 10) }
        #expect(trimCount == expectedCount)
    }

    @Test func waitsForThePeakToEnd() {
        for _ in 0..<20 {
            budget.addReserved(400)
            memory.giveBack(after: budget)
            budget.addReserved(-400)
            memory.giveBack(after: budget)
        }
        #expect(trimCount == 0)
    }

    /// Loads with a spike in each interval, which only the peak shows.
    @Test(arguments: [
        ("memory is given back once a minute at most", 30, 10),
        ("a peak that comes back between two looks is not over", MemoryReturn.calmSeconds - 1, 0),
    ])
    func spikesArePeaks(_ behaviour: String, intervalSeconds: Int, expectedCount: Int) {
        for second in 0..<600 {
            if second % intervalSeconds == 0 {
                budget.addReserved(400)
                budget.addReserved(-400)
            }
            memory.giveBack(after: budget)
        }
        #expect(trimCount == expectedCount)
    }

    /// The idle channels of a host are forgotten half a minute after its connections have closed.
    @Test func waitsForChannelsThatHoldMoreThanHalfOfThePeak() {
        budget.addReserved(300)
        #expect(look(60, channels: 400) == 0)
        budget.addReserved(-300)
        #expect(look(30, channels: 400) == 0)
        #expect(look(MemoryReturn.calmSeconds, channels: 100) == 1)
    }

    @Test func givesBackWhatIsFreedLaterToo() {
        budget.addReserved(500)
        #expect(look(60, channels: 300) == 0)
        budget.addReserved(-500)
        #expect(look(MemoryReturn.calmSeconds, channels: 300) == 1)
        // Most of the rest is freed in the same minute.
        #expect(look(MemoryReturn.intervalSeconds - 1, channels: 100) == 1)
        #expect(look(1, channels: 100) == 2)
        #expect(look(120, channels: 100) == 2)
        // A little is not worth it.
        #expect(look(120, channels: 60) == 2)
    }

    @Test func waitsForChannelsThatAreAboutToBeForgotten() {
        budget.addReserved(400)
        #expect(look(60, forgetsSoon: true) == 0)
        budget.addReserved(-400)
        #expect(look(20, forgetsSoon: true) == 0)
        #expect(look(1) == 1)
        // Not for ever: a host may always have some.
        budget.addReserved(400)
        #expect(look(60, forgetsSoon: true) == 1)
        budget.addReserved(-400)
        #expect(look(MemoryReturn.longestCalmSeconds - 1, forgetsSoon: true) == 1)
        #expect(look(1, forgetsSoon: true) == 2)
    }
}
