import FeedProto
import FeedTestSupport
import Testing

/// The votes at the front of received bytes.
@Suite struct VoteRunTests {
    private let scanner = FrameScanner()

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func findsTheFirstPostOfVotesAndOtherCalls(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var foundCount = 0
        var nilCount = 0
        for _ in 0..<2000 {
            let (bytes, post) = try received(&random)
            #expect(firstPost(bytes) == post, "seed \(seed): \(bytes)")
            #expect(firstPostOfRun(bytes) == post, "seed \(seed): \(bytes)")
            if post == nil { nilCount += 1 } else { foundCount += 1 }
        }
        #expect(foundCount > 500 && nilCount > 500, "Both outcomes are tried; seed \(seed).")
    }

    @Test func findsNoFirstPostBeforeTheWholeFrame() throws {
        let vote = VoteFrame(id: 9, vote: CastVoteRequest(postID: 7, direction: .up))
        let bytes = try ClientFrame(vote).encoded()
        for count in 0..<bytes.count { #expect(firstPost(Array(bytes.prefix(count))) == nil) }
        #expect(firstPost(bytes) == 7)
    }

    @Test(arguments: [[0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF]] as [[UInt8]])
    func findsNoFirstPostBehindWhatIsNoFrame(header: [UInt8]) throws {
        let vote = VoteFrame(id: 9, vote: CastVoteRequest(postID: 7, direction: .up))
        #expect(try firstPost(header + ClientFrame(vote).encoded()) == nil)
    }

    /// Up to three votes and other calls, of which the last may be incomplete; and the post of the
    /// first, where that is a whole vote.
    private func received(
        _ random: inout SeededGenerator
    ) throws -> (bytes: [UInt8], post: UInt64?) {
        var bytes: [UInt8] = []
        var post: UInt64?
        for number in 0..<Int.random(in: 0...3, using: &random) {
            let vote = VoteFrame.random(using: &random)
            var frame = ClientFrame(vote)
            let isVote = Int.random(in: 0..<4, using: &random) > 0
            if !isVote { frame.request = .getPost(GetPostRequest(id: vote.vote.postID)) }
            bytes += try frame.encoded()
            if number == 0, isVote { post = vote.vote.postID }
            guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
            bytes.removeLast(.random(in: 1...4, using: &random))
            return (bytes, number == 0 ? nil : post)
        }
        return (bytes, post)
    }

    private func firstPost(_ bytes: [UInt8]) -> UInt64? {
        unsafe VoteRun.firstPost(in: bytes.span.bytes, scanner)
    }

    /// The post of the first vote that a whole run finds.
    private func firstPostOfRun(_ bytes: [UInt8]) -> UInt64? {
        var run = VoteRun()
        unsafe run.find(in: bytes.span.bytes, at: 0, limit: VoteRun.capacity, scanner)
        return run.count > 0 ? run.entries[0].frame.vote.postID : nil
    }
}
