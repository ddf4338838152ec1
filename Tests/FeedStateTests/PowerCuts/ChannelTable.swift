import FeedLog
import FeedRanking

/// What a service remembers of numbered calls, as simple as can be.
final class ChannelTable {
    private var states: [UInt64: ChannelState] = [:]
    private var outcomes: [UInt64: [UInt64: ChannelOutcome]] = [:]

    /// The channels that said Hello, as their client names them.
    var names: Set<UInt32> { Set(states.values.map(\.channel)) }

    /// Puts back what an earlier life knew: as in the service, an outcome of no channel is dropped.
    func restore(_ entry: LogEntry) {
        switch entry {
        case .channel(let state): states[state.number] = state
        case .outcome(let outcome): if states[outcome.channel] != nil { record(outcome) }
        default: break
        }
    }

    /// A channel's first Hello, within a transaction; nothing for a later one.
    func open(_ channel: UInt32, _ log: ChangeLog) {
        guard number(of: channel) == nil else { return }
        let number = (states.keys.max() ?? 0) + 1
        let state = ChannelState(number: number, clientHigh: 7, clientLow: 8, channel: channel)
        states[number] = state
        log.append(state)
    }

    func number(of channel: UInt32) -> UInt64? {
        states.values.first { $0.channel == channel }?.number
    }

    /// The outcome of a call that was executed already.
    func outcome(of call: ClientCall) -> ChannelOutcome? {
        number(of: call.channel).flatMap { outcomes[$0]?[call.sequence] }
    }

    func record(_ outcome: ChannelOutcome) {
        var joined = outcome
        let old = outcomes[outcome.channel]?[outcome.sequence]
        if case .items(let new) = outcome.outcome, case .items(let done) = old?.outcome {
            var mask = new
            for item in 0..<ItemMask.itemCount where done[item] { mask[item] = true }
            joined.outcome = .items(mask)
        }
        outcomes[outcome.channel, default: [:]][outcome.sequence] = joined
    }

    /// The outcomes that a channel must remember.
    func remembered(_ channel: UInt32) -> [UInt64: Outcome] {
        let outcomes = number(of: channel).flatMap { self.outcomes[$0] } ?? [:]
        let highest = outcomes.keys.max() ?? 0
        return outcomes.filter { $0.key + 256 > highest }.mapValues(\.outcome)
    }
}
