internal import Synchronization

/// The sessions, by the hash of their tokens.
///
/// A part of the table is indexed by the first word of the hash, and the whole hash is then compared in
/// constant time.
final class SessionTable: Sendable {
    private let parts = Shards<UInt64, SessionPart>(of: SessionPart())
    private let sessionCount = Atomic(0)

    var count: Int { sessionCount.load(ordering: .relaxed) }

    func row(_ hash: TokenHash) -> SessionRow? { parts.withPart(of: hash.word0) { $0[hash] } }

    /// Adds a session; false if another one has the same first word, which a new token mends.
    func insert(_ row: SessionRow, _ sink: some AccountChangeSink) -> Bool {
        parts.withPart(of: row.tokenHash.word0) { part in
            guard part.insert(row) else { return false }
            sessionCount.wrappingAdd(1, ordering: .relaxed)
            sink.append(row)
            return true
        }
    }

    /// Lets a session expire at a later time; nil if there is none, and the session as it was if it
    /// expires later already.
    func renew(
        _ hash: TokenHash,
        until time: Int64,
        _ sink: some AccountChangeSink
    ) -> SessionRow? {
        parts.withPart(of: hash.word0) { part in
            guard var row = part[hash] else { return nil }
            guard row.expireTimeMilliseconds < time else { return row }
            row.expireTimeMilliseconds = time
            part.update(row)
            sink.append(row)
            return row
        }
    }

    func remove(_ hash: TokenHash, _ sink: some AccountChangeSink) -> SessionRow? {
        parts.withPart(of: hash.word0) { part in
            guard let row = part.remove(hash) else { return nil }
            sessionCount.wrappingSubtract(1, ordering: .relaxed)
            sink.append(endOf: hash)
            return row
        }
    }

    /// Forgets those of the next sessions of one part that have expired; O(limit).
    func removeExpired(
        inPart number: Int,
        at now: Int64,
        lookingAt limit: Int,
        _ sink: some AccountChangeSink
    ) -> [SessionRow] {
        parts.withPart(number: number) { part in
            let expired = part.removeExpired(at: now, lookingAt: limit)
            for row in expired { sink.append(endOf: row.tokenHash) }
            sessionCount.wrappingSubtract(expired.count, ordering: .relaxed)
            return expired
        }
    }

    func visit(_ body: (SessionRow) -> Void) {
        parts.visit { part in
            for row in part.rows { body(row) }
        }
    }
}

/// A part of the sessions, by the first word of the hash of their tokens.
///
/// The words are in a list, too, in no order: a look for expired sessions goes through it in steps, and
/// continues at the place where the last one ended.
private struct SessionPart: Sendable {
    private struct Entry {
        var row: SessionRow
        var place: Int
    }

    private var entries: [UInt64: Entry] = [:]
    private var words: [UInt64] = []
    private var nextPlace = 0

    var rows: [SessionRow] { entries.values.map(\.row) }

    subscript(_ hash: TokenHash) -> SessionRow? {
        guard let row = entries[hash.word0]?.row, row.tokenHash == hash else { return nil }
        return row
    }

    /// Adds a session; false if another one has the same first word.
    mutating func insert(_ row: SessionRow) -> Bool {
        let word = row.tokenHash.word0
        guard entries[word] == nil else { return false }
        entries[word] = Entry(row: row, place: words.count)
        words.append(word)
        return true
    }

    mutating func update(_ row: SessionRow) { entries[row.tokenHash.word0]?.row = row }

    /// Removes a session; nil if there is none.
    ///
    /// O(1): the last word takes its place in the list.
    mutating func remove(_ hash: TokenHash) -> SessionRow? {
        guard let row = self[hash], let place = entries[hash.word0]?.place else { return nil }
        entries[hash.word0] = nil
        let last = words.removeLast()
        if place < words.count {
            words[place] = last
            entries[last]?.place = place
        }
        return row
    }

    /// Removes those of the next sessions that have expired; O(limit).
    mutating func removeExpired(at now: Int64, lookingAt limit: Int) -> [SessionRow] {
        var expired: [SessionRow] = []
        for _ in 0..<min(limit, words.count) {
            if nextPlace >= words.count { nextPlace = 0 }
            guard let row = entries[words[nextPlace]]?.row else {
                preconditionFailure("Each word of the list is of a session.")
            }
            if row.expireTimeMilliseconds <= now {
                _ = remove(row.tokenHash)
                expired.append(row)
            } else {
                nextPlace += 1
            }
        }
        return expired
    }
}

/// A user's session as it is kept and logged: the hash of its token, and never the token.
///
/// A token that resets the user's password is kept as one, of another kind.
package struct SessionRow: BitwiseCopyable, Equatable, Sendable {
    package enum Kind: UInt8, CaseIterable, BitwiseCopyable, Sendable {
        case session = 0
        case passwordReset = 1
    }

    package var tokenHash: TokenHash
    package var userID: UInt64
    /// Unix time from which on the session is void; it moves later while the session is used.
    package var expireTimeMilliseconds: Int64
    /// The generation of the user's sessions that it belongs to; void below the user's own.
    package var generation: UInt64
    package var kind: Kind

    /// What names it to its user; no other session has the same.
    package var id: UInt64 { tokenHash.word0 }

    package init(
        tokenHash: TokenHash,
        userID: UInt64,
        expireTimeMilliseconds: Int64,
        generation: UInt64,
        kind: Kind = .session
    ) {
        self.kind = kind
        self.tokenHash = tokenHash
        self.userID = userID
        self.expireTimeMilliseconds = expireTimeMilliseconds
        self.generation = generation
    }
}
