internal import FeedConcurrency
internal import Synchronization

/// The accounts, by e-mail and by number.
///
/// Both indexes are divided into parts with a lock each. A creation holds the lock of the e-mail's part
/// and takes that of the number's part under it; all else takes one lock.
final class AccountTable: Sendable {
    struct Entry: Sendable {
        let row: AccountRow
        /// The generation of the user's sessions; those of an earlier one are void.
        var generation: UInt64 = 0
        /// The user's sessions, the oldest first; some may have expired.
        var sessions: [TokenHash] = []
    }

    private let byEmail = Shards<[UInt8], [[UInt8]: UInt64]>(of: [:])
    private let byID = Shards<UInt64, [UInt64: Entry]>(of: [:])
    private let maximumCount: Int
    private let accountCount = Atomic(0)
    private let lastID = Atomic<UInt64>(0)

    init(maximumCount: Int) { self.maximumCount = maximumCount }

    var count: Int { accountCount.load(ordering: .relaxed) }

    func id(for email: EmailAddress) -> UInt64? {
        byEmail.withPart(of: email.key) { $0[email.key] }
    }

    func row(_ id: UInt64) -> AccountRow? { byID.withPart(of: id) { $0[id]?.row } }

    func generation(of id: UInt64) -> UInt64? { byID.withPart(of: id) { $0[id]?.generation } }

    func create(
        _ email: EmailAddress,
        displayName: String,
        passwordHash: String,
        at time: Int64,
        _ sink: some AccountChangeSink
    ) throws(AccountError) -> AccountRow {
        try byEmail.withPart(of: email.key) { (ids) throws(AccountError) -> AccountRow in
            guard ids[email.key] == nil else { throw .emailTaken }
            guard accountCount.wrappingAdd(1, ordering: .relaxed).newValue <= maximumCount else {
                accountCount.wrappingSubtract(1, ordering: .relaxed)
                throw .tooManyAccounts(limit: maximumCount)
            }
            let id = lastID.wrappingAdd(1, ordering: .relaxed).newValue
            let row = AccountRow(
                id: id,
                email: email.text,
                displayName: displayName,
                passwordHash: passwordHash,
                createTimeMilliseconds: time
            )
            ids[email.key] = id
            byID.withPart(of: id) { $0[id] = Entry(row: row) }
            sink.append(row)
            return row
        }
    }

    /// Adds a session to a user's, and takes the oldest one out if there are more than the limit.
    ///
    /// - Returns: The generation that the session belongs to, and the session that has to end.
    func addSession(
        _ hash: TokenHash,
        of id: UInt64,
        limit: Int
    ) -> (generation: UInt64, excess: TokenHash?)? {
        byID.withPart(of: id) { entries in
            guard var entry = entries[id] else { return nil }
            entry.sessions.append(hash)
            let excess = entry.sessions.count > limit ? entry.sessions.removeFirst() : nil
            entries[id] = entry
            return (entry.generation, excess)
        }
    }

    func removeSession(_ hash: TokenHash, of id: UInt64) {
        byID.withPart(of: id) { $0[id]?.sessions.removeAll { $0 == hash } }
    }

    /// Begins a new generation of a user's sessions; returns those of the earlier ones.
    func endGeneration(of id: UInt64, _ sink: some AccountChangeSink) -> [TokenHash] {
        byID.withPart(of: id) { entries in
            guard var entry = entries[id] else { return [] }
            let sessions = entry.sessions
            entry.generation += 1
            entry.sessions = []
            entries[id] = entry
            sink.append(endOfSessionsOf: id, generation: entry.generation)
            return sessions
        }
    }

    func restore(_ row: AccountRow, generation: UInt64) throws(AccountError) {
        guard let email = EmailAddress(row.email), row.id > 0, row.id >> 63 == 0 else {
            throw .badAccount(id: row.id)
        }
        let earlier = byEmail.withPart(of: email.key) { ids in
            ids.updateValue(row.id, forKey: email.key)
        }
        guard earlier == nil else { throw .badAccount(id: row.id) }
        let other = byID.withPart(of: row.id) { entries in
            entries.updateValue(Entry(row: row, generation: generation), forKey: row.id)
        }
        guard other == nil else { throw .badAccount(id: row.id) }
        accountCount.wrappingAdd(1, ordering: .relaxed)
        skipNumbers(upTo: row.id)
    }

    /// Gives later accounts numbers above this one; before any of them is created.
    func skipNumbers(upTo id: UInt64) {
        lastID.store(max(lastID.load(ordering: .relaxed), id), ordering: .relaxed)
    }

    func visit(_ body: (Entry) -> Void) {
        byID.visit { part in
            for entry in part.values { body(entry) }
        }
    }
}

/// An account as it is kept and logged; it never changes.
package struct AccountRow: Equatable, Sendable {
    /// The user's number, from 1 on; the top bit is never set.
    package var id: UInt64
    /// The e-mail as the user wrote it.
    package var email: String
    package var displayName: String
    /// The hash of the password, in the text form of argon2id, which names its parameters and salt.
    package var passwordHash: String
    /// Unix time of the sign-up.
    package var createTimeMilliseconds: Int64

    package init(
        id: UInt64,
        email: String,
        displayName: String,
        passwordHash: String,
        createTimeMilliseconds: Int64
    ) {
        self.id = id
        self.email = email
        self.displayName = displayName
        self.passwordHash = passwordHash
        self.createTimeMilliseconds = createTimeMilliseconds
    }
}

/// A table in parts with a lock each, so that threads rarely wait for each other.
struct Shards<Key: Hashable & Sendable, Part: Sendable>: ~Copyable, Sendable {
    /// The number of parts: many more than threads, and few enough to look into each once a minute.
    static var count: Int { 64 }

    private let parts: InlineArray<64, Lock<Part>>

    init(of empty: Part) { parts = InlineArray { _ in Lock(empty) } }

    /// Calls the body with the part that a key is in, under its lock.
    func withPart<Result, Failure: Error>(
        of key: Key,
        _ body: (inout sending Part) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        // The seed of hashes is the process's own: nobody can aim at one part.
        let number = Int(UInt(bitPattern: key.hashValue) % UInt(Self.count))
        return try parts[number].withLock(body)
    }

    func withPart<Result>(
        number: Int,
        _ body: (inout sending Part) -> sending Result
    ) -> sending Result {
        parts[number % Self.count].withLock(body)
    }

    /// Calls the body with a copy of one part after another, under no lock.
    func visit(_ body: (Part) -> Void) {
        for number in 0..<Self.count { body(withPart(number: number) { $0 }) }
    }
}
