internal import Synchronization

/// The sessions, by the hash of their tokens.
///
/// A part of the table is indexed by the first word of the hash, and the whole hash is then compared in
/// constant time.
final class SessionTable: Sendable {
    private let parts = Shards<UInt64, SessionPart>(of: SessionPart())
    private let sessionCount = Atomic(0)

    /// The number of sessions; some may have expired.
    var count: Int { sessionCount.load(ordering: .relaxed) }

    /// The session of a token's hash; nil if there is none.
    func row(_ hash: TokenHash) -> SessionRow? {
        parts.withPart(of: hash.word0) { $0[hash] }
    }

    /// Adds a session; false where another one has the same first word, which a new token mends.
    func insert(_ row: SessionRow, _ sink: some AccountChangeSink) -> Bool {
        parts.withPart(of: row.tokenHash.word0) { part in
            guard part.insert(row) else { return false }
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
        parts.withPart(of: hash.word0) { part in
            guard var row = part[hash] else { return nil }
            guard row.expireTimeMilliseconds < time else { return row }
            row.expireTimeMilliseconds = time
            part.update(row)
            sink.append(row)
            return row
        }
    }

    /// Forgets a session; nil if there is none.
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

    /// Calls the body with each session, one part at a time; O(sessions).
    func visit(_ body: (SessionRow) -> Void) {
        parts.visit { part in
            for row in part.rows { body(row) }
        }
    }
}
