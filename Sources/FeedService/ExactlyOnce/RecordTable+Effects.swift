internal import FeedRanking

extension RecordTable {
    /// Puts back what an effect says of channels; others are no affair of the table.
    func restore(_ effect: Effect) {
        switch effect {
        case .channel(let channel): restore(channel)
        case .outcome(let outcome): restore(outcome)
        default: break
        }
    }
}
