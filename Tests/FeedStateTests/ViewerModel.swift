import FeedAccounts
import FeedLog
import FeedRanking

/// The users that vote, the accounts with their sessions, and the marks, in dictionaries.
struct ViewerModel: Equatable {
    /// What tells a mark from others.
    struct MarkKey: Hashable {
        var viewer: UInt32
        /// The post, or what tells marks through posts from one another.
        var numbers: [UInt64]
    }

    var users: [UInt32: UInt64] = [:]
    var accounts: [UInt64: AccountRow] = [:]
    var generations: [UInt64: UInt64] = [:]
    var sessions: [TokenHash: SessionRow] = [:]
    var marks: [MarkKey: PostMarks] = [:]
    var throughs: [MarkKey: MarkThrough] = [:]

    /// Whether a service would log an entry of accounts: its account is there, and its generation is
    /// the account's, or the next one where it ends the sessions.
    func allows(_ entry: LogEntry) -> Bool {
        switch entry {
        case .session(let session):
            accounts[session.userID] != nil
                && session.generation == generations[session.userID] ?? 0
        case .sessionsEnded(let user, let generation):
            accounts[user] != nil && generation == (generations[user] ?? 0) + 1
        default: true
        }
    }

    /// Takes a log entry; each is newer than the ones before.
    mutating func apply(_ entry: LogEntry) {
        switch entry {
        case .userVoter(let voter, let user): users[voter.rawValue] = user
        case .account(let account): accounts[account.id] = account
        case .session(let session): sessions[session.tokenHash] = session
        case .sessionEnded(let hash): sessions[hash] = nil
        case .sessionsEnded(let user, let generation):
            generations[user] = generation
            sessions = sessions.filter {
                $0.value.userID != user || $0.value.generation >= generation
            }
        case .marks(let news):
            let key = MarkKey(viewer: news.viewer.rawValue, numbers: [news.post.rawValue])
            marks[key] = news.marks.isEmpty ? nil : news
        case .markThrough(let mark):
            let topic: UInt64 = mark.mark == .read || mark.mark == .unread ? 0 : 1
            let feed = mark.feed.map { UInt64($0.rawValue) } ?? .max
            let numbers = [feed, topic, UInt64(mark.place)]
            throughs[MarkKey(viewer: mark.viewer.rawValue, numbers: numbers)] = mark
        default: break
        }
    }
}

extension ViewerModel {
    /// The accounts and sessions, as a start hands them over.
    var accountsState: AccountsState {
        var state = AccountsState()
        state.accounts = Array(accounts.values)
        state.generations = generations
        state.sessions = Array(sessions.values)
        return state
    }
}

extension AccountsState {
    /// Whether both have the same rows, in any order.
    func isAlike(_ other: AccountsState) -> Bool {
        func ordered(_ state: AccountsState) -> AccountsState {
            var state = state
            state.accounts.sort { $0.id < $1.id }
            state.sessions.sort { $0.tokenHash.word0 < $1.tokenHash.word0 }
            return state
        }
        return ordered(self) == ordered(other)
    }
}
