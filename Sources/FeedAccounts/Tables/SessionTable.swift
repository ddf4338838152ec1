internal import Synchronization

/// The sessions, by the hash of their tokens.
///
/// A part of the table is indexed by the first word of the hash, and the whole hash is then compared in
/// constant time.
final class SessionTable: Sendable {
    private let byHash = Shards<UInt64, SessionRow>()
    private let sessionCount = Atomic(0)

    /// The number of sessions; some may have expired.
    var count: Int { sessionCount.load(ordering: .relaxed) }

    /// The session of a token's hash; nil if there is none.
    func row(_ hash: TokenHash) -> SessionRow? {
        byHash.withPart(of: hash.word0) { rows in
            guard let row = rows[hash.word0], row.tokenHash == hash else { return nil }
            return row
        }
    }

    /// Adds a session; false where another one has the same first word, which a new token mends.
    func insert(_ row: SessionRow, _ sink: some AccountChangeSink) -> Bool {
        byHash.withPart(of: row.tokenHash.word0) { rows in
            guard rows[row.tokenHash.word0] == nil else { return false }
            rows[row.tokenHash.word0] = row
            sessionCount.wrappingAdd(1, ordering: .relaxed)
            sink.append(row)
            return true
        }
    }

    /// Lets a session expire at a later time; nil if there is none, and the session as it was where it
    /// expires later already.
    func renew(
        _ hash: TokenHash,
        until time: Int64,
        _ sink: some AccountChangeSink
    ) -> SessionRow? {
        byHash.withPart(of: hash.word0) { rows in
            guard var row = rows[hash.word0], row.tokenHash == hash else { return nil }
            guard row.expireTimeMilliseconds < time else { return row }
            row.expireTimeMilliseconds = time
            rows[hash.word0] = row
            sink.append(row)
            return row
        }
    }

    /// Forgets a session; nil if there is none.
    func remove(_ hash: TokenHash, _ sink: some AccountChangeSink) -> SessionRow? {
        byHash.withPart(of: hash.word0) { rows in
            guard let row = rows[hash.word0], row.tokenHash == hash else { return nil }
            rows[hash.word0] = nil
            sessionCount.wrappingSubtract(1, ordering: .relaxed)
            sink.append(endOf: hash)
            return row
        }
    }

    /// Forgets the expired sessions of one part, at most so many; O(sessions of the part).
    func removeExpired(
        inPart number: Int,
        at now: Int64,
        limit: Int,
        _ sink: some AccountChangeSink
    ) -> [SessionRow] {
        byHash.withPart(number: number) { rows in
            let expired = Array(
                rows.values.lazy.filter { $0.expireTimeMilliseconds <= now }.prefix(limit)
            )
            for row in expired {
                rows[row.tokenHash.word0] = nil
                sink.append(endOf: row.tokenHash)
            }
            sessionCount.wrappingSubtract(expired.count, ordering: .relaxed)
            return expired
        }
    }

    /// Calls the body with each session, one part at a time; O(sessions).
    func visit(_ body: (SessionRow) -> Void) { byHash.visit(body) }
}
