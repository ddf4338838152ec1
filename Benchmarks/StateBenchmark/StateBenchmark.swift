import FeedJournal
import FeedRanking
import FeedState
import FeedTestSupport

/// Measures the cost of filling a memtable, checkpointing and loading the durable state.
///
/// `StateBenchmark DIRECTORY [POSTS [BALLOTS]]`: the directory has to be there and empty. With ballots,
/// only what they cost is measured.
@main struct StateBenchmark {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let path = arguments.first else {
            print("usage: StateBenchmark DIRECTORY [POSTS [BALLOTS]]")
            return
        }
        let postCount = arguments.dropFirst().first.flatMap { UInt64($0) } ?? 1_000_000
        var bench = try StateBench(path: path)
        if let ballotCount = arguments.dropFirst(2).first.flatMap({ Int($0) }) {
            try bench.addBallots(postCount: postCount)
            try bench.createBallotFeed(postCount: postCount)
            try bench.cast(ballotCount: ballotCount, postCount: postCount)
            try bench.load()
            return
        }
        bench.addVotes(postCount: 100_000)
        try bench.create(upTo: 100_000)
        try bench.vote(onPosts: 100_000)
        try bench.vote(onPosts: 100_000)
        try bench.create(upTo: postCount)
        try bench.vote(onPosts: 100_000)
        try bench.vote(onPosts: 100_000)
        try bench.vote(onPosts: 100_000, consecutive: true)
        try bench.load()
        try bench.load()
        try bench.rowPerPost(onPosts: 100_000)
    }
}
