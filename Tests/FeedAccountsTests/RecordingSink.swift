import FeedAccounts
import FeedTestSupport

/// A sink that keeps all changes, and puts them together again in any order.
final class RecordingSink: AccountChangeSink, Sendable {
    enum Entry: Sendable {
        case account(AccountRow)
        case session(SessionRow)
        case end(TokenHash)
        case endOfAll(UInt64, generation: UInt64)
    }

    private let kept = Locked<[Entry]>([])

    var entries: [Entry] { kept.withLock { $0 } }

    func append(_ account: AccountRow) { keep(.account(account)) }
    func append(_ session: SessionRow) { keep(.session(session)) }
    func append(endOf session: TokenHash) { keep(.end(session)) }
    func append(endOfSessionsOf userID: UInt64, generation: UInt64) {
        keep(.endOfAll(userID, generation: generation))
    }

    private func keep(_ entry: Entry) { kept.withLock { $0.append(entry) } }

    /// The state that the entries leave in the order of a replay, by the rules of AccountChangeSink.
    static func replayed(_ entries: [Entry]) -> AccountsState {
        var accounts: [UInt64: AccountRow] = [:]
        var sessions: [TokenHash: SessionRow] = [:]
        var ended: Set<TokenHash> = []
        var state = AccountsState()
        for entry in entries {
            switch entry {
            case .account(let row): accounts[row.id] = row
            case .session(let row):
                let time = sessions[row.tokenHash]?.expireTimeMilliseconds ?? .min
                if row.expireTimeMilliseconds > time { sessions[row.tokenHash] = row }
            case .end(let hash): ended.insert(hash)
            case .endOfAll(let id, let generation):
                state.generations[id] = max(state.generations[id] ?? 0, generation)
            }
        }
        state.accounts = Array(accounts.values)
        state.sessions = sessions.values.filter { !ended.contains($0.tokenHash) }
        return state.sorted
    }
}

extension AccountsState {
    /// The same state with its rows in one order.
    var sorted: AccountsState {
        var state = self
        state.accounts.sort { $0.id < $1.id }
        state.sessions.sort { $0.tokenHash.bytes.lexicographicallyPrecedes($1.tokenHash.bytes) }
        return state
    }
}
