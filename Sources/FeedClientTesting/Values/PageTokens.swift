internal import FeedProto
internal import FeedRanking

/// The page tokens that a service in memory has given, each for one list and one caller.
struct PageTokens {
    /// The list of a token, as one caller sees it.
    struct Scope: Hashable {
        var feed: FeedID?
        var order: FeedRanking.Order
        var window: FeedRanking.Window?
        var viewer: VoterKey?
        var authorID: UInt64
        var unreadOnly: Bool
        var includesDismissed: Bool
    }

    private var given: [(cursor: PageCursor, scope: Scope)] = []

    /// No tokens.
    init() {}

    /// A token for a place; no bytes for none.
    mutating func token(_ cursor: PageCursor?, in scope: Scope) -> [UInt8] {
        guard let cursor else { return [] }
        let known = given.firstIndex { $0.cursor == cursor && $0.scope == scope }
        if known == nil { given.append((cursor, scope)) }
        let number = UInt64(known ?? given.count - 1)
        return [UInt8(ascii: "p")] + (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// The place of a token.
    func cursor(_ token: [UInt8], in scope: Scope) throws(Status) -> PageCursor {
        let number = token.dropFirst().reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard token.count == 9, token.first == UInt8(ascii: "p"), number < UInt64(given.count),
            given[Int(number)].scope == scope
        else { throw .invalid(.pageTokenMismatch, "page_token") }
        return given[Int(number)].cursor
    }
}
