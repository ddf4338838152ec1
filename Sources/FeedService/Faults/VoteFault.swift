internal import ArgumentParser

/// A deliberate fault in counting votes, for proving that an audit sees it.
///
/// It is asked for by a hidden flag, as `drop:10000`: every 10,000th vote of each loop.
package enum VoteFault: Sendable, Equatable {
    /// Every n-th vote is answered as if counted, and is not.
    case dropped(every: Int)
    /// Every n-th vote is counted twice.
    case doubled(every: Int)
    /// Every n-th vote is answered OK first, and then fails and is reported as an error.
    case answeredEarly(every: Int)
    /// What came of every n-th numbered call is forgotten, so that it is executed again.
    case forgotten(every: Int)
    /// Answers go out before what they say is durable; it is asked for as `unheld`, for all votes.
    case unheld
}

extension VoteFault: ExpressibleByArgument {
    package init?(argument: String) {
        if argument == "unheld" {
            self = .unheld
            return
        }
        let parts = argument.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let every = Int(parts[1]), every > 0 else { return nil }
        switch parts[0] {
        case "drop": self = .dropped(every: every)
        case "double": self = .doubled(every: every)
        case "early": self = .answeredEarly(every: every)
        case "forget": self = .forgotten(every: every)
        default: return nil
        }
    }
}
