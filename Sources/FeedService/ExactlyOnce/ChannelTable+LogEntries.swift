import FeedLog

extension ChannelTable {
    /// Puts back what a log entry says of channels; the table ignores other entries.
    func restore(_ entry: LogEntry) {
        switch entry {
        case .channel(let channel): restore(channel)
        case .outcome(let outcome): restore(outcome)
        default: break
        }
    }
}
