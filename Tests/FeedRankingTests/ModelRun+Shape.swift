import FeedRanking
import FeedTestSupport

/// What the parts of a shape are drawn from.
extension ModelRun {
    /// The pace of the service, or one that does most of a refresh in many small steps.
    static func pace(_ random: inout SeededGenerator) -> RefreshPace {
        var pace = RefreshPace()
        guard !random.oneIn(4) else { return pace }
        pace.minimumStaleCount = [1, 5, 100].randomElement(using: &random) ?? 1
        pace.wholePostCount = [0, 0, 200].randomElement(using: &random) ?? 0
        pace.stepKeyCount = [1, 40, 1_000].randomElement(using: &random) ?? 1
        // So few steps that a request still ends within the tries that a run allows.
        pace.sideStepPostCount = pace.stepKeyCount == 1 ? 1_500 : pace.sideStepPostCount
        // With more, most posts of a small run lie in the heads.
        pace.headPostCount = [1, 512].randomElement(using: &random) ?? 1
        return pace
    }

    static func titles(_ random: inout SeededGenerator) -> [String] {
        let short = ["", "a", "b", "ab", "é", " "]
        let long = ["the same", "the same beginning", "the same beginning 2", "the samf"]
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return short
        case 1: return long + [String(repeating: "the same", count: 40)]
        default: return short + long
        }
    }
}
