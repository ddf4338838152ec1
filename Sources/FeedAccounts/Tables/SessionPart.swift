/// A part of the sessions, by the first word of the hash of their tokens.
///
/// The words are in a list, too, in no order: a look for expired sessions goes through it in steps, and
/// continues at the place where the last one ended.
struct SessionPart: Sendable {
    private struct Entry {
        var row: SessionRow
        /// The place of the word in the list.
        var place: Int
    }

    private var entries: [UInt64: Entry] = [:]
    private var words: [UInt64] = []
    private var nextPlace = 0

    /// The sessions; O(sessions).
    var rows: [SessionRow] { entries.values.map(\.row) }

    /// The session with a hash; nil if there is none.
    subscript(_ hash: TokenHash) -> SessionRow? {
        guard let row = entries[hash.word0]?.row, row.tokenHash == hash else { return nil }
        return row
    }

    /// Adds a session; false where another one has the same first word.
    mutating func insert(_ row: SessionRow) -> Bool {
        let word = row.tokenHash.word0
        guard entries[word] == nil else { return false }
        entries[word] = Entry(row: row, place: words.count)
        words.append(word)
        return true
    }

    /// Replaces a session by one with the same hash.
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
