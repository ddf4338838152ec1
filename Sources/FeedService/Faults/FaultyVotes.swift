/// Decides which votes of a loop go wrong where a `VoteFault` was asked for.
struct FaultyVotes {
    /// What goes wrong with a vote.
    enum Wrong {
        case dropped
        case doubled
        case answeredEarly
        case forgotten
    }

    private let wrong: Wrong
    private let every: Int
    private var count = 0

    /// Makes every n-th vote go wrong in the way of `fault`; nil where no vote does.
    init?(_ fault: VoteFault) {
        switch fault {
        case .dropped(let every): (wrong, self.every) = (.dropped, every)
        case .doubled(let every): (wrong, self.every) = (.doubled, every)
        case .answeredEarly(let every): (wrong, self.every) = (.answeredEarly, every)
        case .forgotten(let every): (wrong, self.every) = (.forgotten, every)
        case .unheld: return nil
        }
    }

    /// Whether the outcome of the next numbered call is forgotten.
    mutating func forgetsNext() -> Bool {
        guard case .forgotten = wrong else { return false }
        count += 1
        return count.isMultiple(of: every)
    }

    /// What goes wrong with the next vote itself; nil for all but every n-th.
    mutating func next() -> Wrong? {
        if case .forgotten = wrong { return nil }
        count += 1
        return count.isMultiple(of: every) ? wrong : nil
    }
}
