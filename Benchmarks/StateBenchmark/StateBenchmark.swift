import FeedJournal
import FeedRanking
import FeedState
import FeedTestSupport

/// Measures the cost of filling a memtable, checkpointing and loading the durable state.
///
/// `StateBenchmark DIRECTORY [POSTS]`: the directory has to be there and empty.
@main struct StateBenchmark {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let path = arguments.first else {
            print("usage: StateBenchmark DIRECTORY [POSTS]")
            return
        }
        let postCount = arguments.dropFirst().first.flatMap { UInt64($0) } ?? 1_000_000
        var bench = try StateBench(path: path)
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
