package import FeedJournal
package import FeedRanking

/// Puts a store together from a data directory: the rows of `state.db`, then the records of the
/// journal behind them.
struct Recovery {
    /// Where posts, feeds and voters go.
    let store: FeedStore
    /// Where channels and their outcomes go.
    let channels: (Effect) -> Void
    /// Hears how far it is.
    let progress: (RecoveryProgress) -> Void

    /// Checks and loads all rows.
    func load(_ database: StateDatabase) throws(StateStartError) {
        do throws(StateError) {
            try database.load(into: store, channels: channels) { completed, total in
                progress(RecoveryProgress(step: .loading, completed: completed, total: total))
            }
        } catch {
            throw .state(error)
        }
    }

    /// Applies one record's effects; gives how many there were.
    func apply(_ body: [UInt8], _ record: JournalRecord) throws(StateStartError) -> UInt64 {
        var count: UInt64 = 0
        do throws(EffectError) {
            var reader = try EffectReader(body)
            while let effect = try reader.next() {
                count += 1
                switch effect {
                case .channel, .outcome: channels(effect)
                default: try apply(effect, record)
                }
            }
        } catch let error as EffectError {
            throw .effects(sequence: record.position.sequence, error)
        } catch {
            throw error
        }
        return count
    }

    private func apply(_ effect: Effect, _ record: JournalRecord) throws(StateStartError) {
        do throws(RecoveryError) {
            try store.apply(effect)
        } catch {
            throw .recovery(sequence: record.position.sequence, error)
        }
    }
}
