/// What the ranking costs at several sizes: `RankingBenchmark [scenario ...] [posts ...]`.
///
/// One thread and 16 stripes; top, new and hot of one feed are kept, and a first page of each is
/// read every so many votes, as many as the service executes in a millisecond.
@main
struct RankingBenchmark {
    static func main() {
        var scenarios: [Scenario] = []
        var postCounts: [Int] = []
        for argument in CommandLine.arguments.dropFirst() {
            if let count = Int(argument), count >= 1_000 {
                postCounts.append(count)
            } else if let scenario = Scenario(rawValue: argument) {
                scenarios.append(scenario)
            } else {
                let names = Scenario.allCases.map(\.rawValue).joined(separator: ", ")
                print("\(argument): expected one of \(names), or 1000 posts or more.")
                return
            }
        }
        if scenarios.isEmpty { scenarios = Scenario.allCases }
        if postCounts.isEmpty { postCounts = [10_000, 100_000, 1_000_000] }
        for postCount in postCounts {
            print("\(postCount) posts")
            var run = BenchmarkRun(postCount: postCount)
            for scenario in scenarios {
                run.run(scenario)
            }
        }
    }
}

/// What can be measured by itself.
enum Scenario: String, CaseIterable {
    /// How long the posts took to create, and the bytes that each takes.
    case create
    /// Votes with their share of pages and refreshing.
    case vote
    /// Votes while all lists are read once a second.
    case lists
    /// Lists on demand, snapshots and marks.
    case sides
    /// The memory of ballots.
    case ballots
    /// Votes on a stripe until a refresh is due, and the refresh.
    case refresh
    /// First pages while votes run.
    case page
    /// Ranks and pages deep in the list.
    case rank
    /// What the change log adds to a vote, and what it costs to put log entries back.
    case log
}
