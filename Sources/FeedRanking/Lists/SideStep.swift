/// What a reader may still do for side lists before it gives up the stripe's lock, in posts.
///
/// A build or a refresh that does not fit into a step is continued by a later try, which finds what
/// the steps before have done.
struct SideStep {
    /// What a post of the tail costs, whose key is sorted and merged.
    static let tailPostCost = 2

    private var remaining: Int
    /// The posts that the step has worked on.
    private(set) var usedCount = 0
    /// Whether there was more to do than the step allows.
    private(set) var isCut = false

    /// A step of at most so many posts.
    init(postCount: Int) {
        remaining = postCount
    }

    /// Takes as many of some posts as the step still allows; returns how many.
    mutating func take(_ wanted: Int, costing cost: Int = 1) -> Int {
        let count = min(wanted, remaining / cost)
        remaining -= count * cost
        usedCount += count * cost
        if count < wanted { isCut = true }
        return count
    }

    /// Ends the step before all is done.
    mutating func cut() {
        remaining = 0
        isCut = true
    }

    /// How many posts of a cost the step still allows.
    func room(costing cost: Int = 1) -> Int { remaining / cost }
}
