internal import FeedConcurrency
internal import Synchronization

/// The accounts of users and their sessions.
///
/// Times are handed in, as Unix milliseconds. Each change goes to an ``AccountChangeSink`` and belongs
/// into a transaction of the log behind it. Threads may call everything at the same time.
///
/// The indexes of accounts, by e-mail and by number, are divided into parts with a lock each. A creation and
/// a change of the e-mail hold the lock of the e-mail's part and take that of the number's part under it;
/// all else takes one lock.
package final class Accounts: Sendable {
    private struct Entry: Sendable {
        var row: AccountRow
        /// The generation of the user's sessions; those of an earlier one are void.
        var generation: UInt64 = 0
        /// The user's sessions, the oldest first; some may have expired.
        var sessions: [TokenHash] = []
        /// The newest token that resets the user's password; it may have expired.
        var reset: TokenHash?

        /// Ends all tokens of the user; gives those that are to be forgotten.
        mutating func endTokens(generation: UInt64) -> [TokenHash] {
            defer { (self.generation, sessions, reset) = (generation, [], nil) }
            return sessions + (reset.map { [$0] } ?? [])
        }
    }

    package let limits: AccountLimits
    private let byEmail = Shards<[UInt8], [[UInt8]: UInt64]>(of: [:])
    private let byID = Shards<UInt64, [UInt64: Entry]>(of: [:])
    private let count = Atomic(0)
    private let lastID = Atomic<UInt64>(0)
    private let sessions = SessionTable()
    private let revocations = Atomic<UInt64>(0)
    private let sweptPart = Atomic(0)
    private let pendingErasures = Lock<[UInt64: AccountRow.Erasure]>([:])

    package init(_ limits: AccountLimits = AccountLimits()) { self.limits = limits }

    package var accountCount: Int { count.load(ordering: .relaxed) }

    /// The number of sessions; some may have expired.
    package var sessionCount: Int { sessions.count }

    /// Whether another session may begin.
    ///
    /// Threads that ask at the same moment may each begin one.
    package var hasRoomForSession: Bool { sessions.count < limits.maximumSessionCount }

    /// A number that rises with each end of sessions.
    ///
    /// As long as it stays, a session that was current ends by its time only.
    package var revocationCount: UInt64 { revocations.load(ordering: .acquiring) }

    package func account(for email: EmailAddress) -> AccountRow? {
        byEmail.withPart(of: email.key) { $0[email.key] }.flatMap { account($0) }
            .flatMap { $0.emailKey == email.key ? $0 : nil }
    }

    /// The account of a number; nil if there is none, or it was deleted.
    package func account(_ id: UInt64) -> AccountRow? {
        row(id).flatMap { $0.isDeleted ? nil : $0 }
    }

    private func row(_ id: UInt64) -> AccountRow? { byID.withPart(of: id) { $0[id]?.row } }

    private func generation(of id: UInt64) -> UInt64? {
        byID.withPart(of: id) { $0[id]?.generation }
    }

    package func create(
        _ email: EmailAddress,
        displayName: String,
        passwordHash: String,
        at now: Int64,
        _ sink: some AccountChangeSink
    ) throws(AccountError) -> AccountRow {
        try byEmail.withPart(of: email.key) { (ids) throws(AccountError) -> AccountRow in
            guard ids[email.key] == nil else { throw .emailTaken }
            let limit = limits.maximumAccountCount
            guard count.wrappingAdd(1, ordering: .relaxed).newValue <= limit else {
                count.wrappingSubtract(1, ordering: .relaxed)
                throw .tooManyAccounts(limit: limit)
            }
            let id = lastID.wrappingAdd(1, ordering: .relaxed).newValue
            let row = AccountRow(
                id: id,
                email: email.text,
                displayName: displayName,
                passwordHash: passwordHash,
                createTimeMilliseconds: now
            )
            ids[email.key] = id
            byID.withPart(of: id) { $0[id] = Entry(row: row) }
            sink.append(row)
            return row
        }
    }

    /// Changes an account in one step, and raises its version; its e-mail stays.
    ///
    /// - Parameters:
    ///   - id: The account.
    ///   - endsSessions: Whether all sessions of the user end with it, those too that begin at this moment.
    ///   - includesDeleted: Whether a deleted account may be changed, too.
    ///   - sink: What takes the change.
    ///   - change: Makes the change under the account's lock; false refuses it.
    /// - Returns: The account as it is now; nil if there is none, or it was refused.
    package func change(
        _ id: UInt64,
        endsSessions: Bool,
        includesDeleted: Bool = false,
        _ sink: some AccountChangeSink,
        _ change: (inout AccountRow) -> Bool
    ) -> AccountRow? {
        let changed = byID.withPart(of: id) { entries -> (row: AccountRow, ended: [TokenHash])? in
            guard var entry = entries[id], includesDeleted || !entry.row.isDeleted,
                change(&entry.row)
            else { return nil }
            entry.row.version += 1
            sink.append(entry.row)
            let ended = endsSessions ? endTokens(of: &entry, sink) : []
            entries[id] = entry
            return (entry.row, ended)
        }
        guard let changed else { return nil }
        if endsSessions { remove(changed.ended, sink) }
        return changed.row
    }

    /// Gives an account another e-mail, if it is free and `isAllowed` says so of the account as it is.
    ///
    /// A token that resets the password ends, as it was sent to the old one; the sessions stay.
    ///
    /// - Returns: The account as it is now; nil if there is none, or it was refused.
    package func changeEmail(
        of id: UInt64,
        to email: EmailAddress,
        _ sink: some AccountChangeSink,
        if isAllowed: (AccountRow) -> Bool
    ) throws(AccountError) -> AccountRow? {
        var old = email.key
        let row = try byEmail.withPart(of: email.key) {
            (ids) throws(AccountError) -> AccountRow? in
            guard ids[email.key] ?? id == id else { throw .emailTaken }
            let row = change(id, endsSessions: false, sink) { row in
                guard isAllowed(row) else { return false }
                old = row.emailKey
                row.email = email.text
                return true
            }
            if row != nil { ids[email.key] = id }
            return row
        }
        release(old, of: id)
        if row != nil, let reset = byID.withPart(of: id, { $0[id]?.reset }) { end(reset, sink) }
        return row
    }

    /// Deletes an account, if `isAllowed` says so of it: the sessions end, the e-mail is free, and the row
    /// stays without its texts.
    ///
    /// - Returns: Whether that was done; false if there is none, or it was refused.
    package func delete(
        _ id: UInt64,
        erasing erasure: AccountRow.Erasure,
        _ sink: some AccountChangeSink,
        if isAllowed: (AccountRow) -> Bool = { _ in true }
    ) -> Bool {
        var old: [UInt8] = []
        let row = change(id, endsSessions: true, sink) { row in
            guard isAllowed(row) else { return false }
            old = row.emailKey
            row.delete(erasing: erasure)
            return true
        }
        guard let row else { return false }
        release(old, of: id)
        noteErasure(of: row)
        return true
    }

    /// The deleted accounts of which posts are still to be erased, or their author, by number; O(them).
    package var erasures: [UInt64: AccountRow.Erasure] { pendingErasures.withLock { $0 } }

    /// Notes that no post names a deleted account any more.
    package func endErasure(of id: UInt64, _ sink: some AccountChangeSink) {
        let row = change(id, endsSessions: false, includesDeleted: true, sink) { row in
            guard let ended = row.status.erased else { return false }
            row.status = ended
            return true
        }
        if let row { noteErasure(of: row) }
    }

    private func noteErasure(of row: AccountRow) {
        guard row.isDeleted else { return }
        pendingErasures.withLock { $0[row.id] = row.status.erased?.erasure }
    }

    /// Lets others have an e-mail that was an account's, unless it is that again.
    private func release(_ key: [UInt8], of id: UInt64) {
        byEmail.withPart(of: key) { ids in
            if ids[key] == id, row(id)?.emailKey != key { ids[key] = nil }
        }
    }

    /// Begins a session of a user, whose token is known here only now; nil if there is no such user, if the
    /// user is suspended, and if the account has another password than the one that was checked.
    ///
    /// If the user has as many as the limit, the oldest one ends.
    package func beginSession(
        of userID: UInt64,
        checked passwordHash: String? = nil,
        at now: Int64,
        _ sink: some AccountChangeSink
    ) -> (token: SessionToken, session: SessionRow)? {
        beginToken(.session, of: userID, until: expireTime(now), sink) {
            $0.isActive && $0.passwordHash == passwordHash ?? $0.passwordHash
        }
    }

    /// Makes a token that resets a user's password, in place of an earlier one; nil if there is no such
    /// user.
    package func beginReset(
        of userID: UInt64,
        at now: Int64,
        _ sink: some AccountChangeSink
    ) -> (token: SessionToken, session: SessionRow)? {
        let end = now + limits.resetDuration.millisecondsRoundedDown
        return beginToken(.passwordReset, of: userID, until: end, sink) { $0.isActive }
    }

    private func beginToken(
        _ kind: SessionRow.Kind,
        of userID: UInt64,
        until expireTime: Int64,
        _ sink: some AccountChangeSink,
        if isAllowed: (AccountRow) -> Bool
    ) -> (token: SessionToken, session: SessionRow)? {
        while true {
            let token = SessionToken()
            var session = SessionRow(
                tokenHash: token.hash,
                userID: userID,
                expireTimeMilliseconds: expireTime,
                generation: 0,
                kind: kind
            )
            let limit = limits.maximumSessionsPerUser
            guard let (generation, excess) = add(session, limit: limit, if: isAllowed) else {
                return nil
            }
            session.generation = generation
            let isNew = sessions.insert(session, sink)
            if let excess { end(excess, sink) }
            if isNew { return (token, session) }
            forget(session)
        }
    }

    /// Adds a token to a user's, and takes the one out that has to go: the oldest session if there are more
    /// than the limit, or the earlier reset.
    ///
    /// - Returns: The generation that the token belongs to, and the one that has to end.
    private func add(
        _ session: SessionRow,
        limit: Int,
        if isAllowed: (AccountRow) -> Bool = { _ in true }
    ) -> (generation: UInt64, excess: TokenHash?)? {
        byID.withPart(of: session.userID) { entries in
            guard var entry = entries[session.userID], isAllowed(entry.row) else { return nil }
            defer { entries[session.userID] = entry }
            switch session.kind {
            case .session:
                entry.sessions.append(session.tokenHash)
                let excess = entry.sessions.count > limit ? entry.sessions.removeFirst() : nil
                return (entry.generation, excess)
            case .passwordReset:
                defer { entry.reset = session.tokenHash }
                return (entry.generation, entry.reset)
            }
        }
    }

    private func forget(_ session: SessionRow) {
        byID.withPart(of: session.userID) { entries in
            entries[session.userID]?.sessions.removeAll { $0 == session.tokenHash }
            if entries[session.userID]?.reset == session.tokenHash {
                entries[session.userID]?.reset = nil
            }
        }
    }

    /// The session of a token; nil if there is none, or it has expired or was ended.
    package func session(_ hash: TokenHash, at now: Int64) -> SessionRow? {
        current(hash, .session, at: now)
    }

    /// The reset that a token is for; nil if there is none, or it has expired or was ended.
    package func reset(_ hash: TokenHash, at now: Int64) -> SessionRow? {
        current(hash, .passwordReset, at: now)
    }

    private func current(_ hash: TokenHash, _ kind: SessionRow.Kind, at now: Int64) -> SessionRow? {
        guard let row = sessions.row(hash), row.kind == kind, row.expireTimeMilliseconds > now,
            let generation = generation(of: row.userID), row.generation >= generation
        else { return nil }
        return row
    }

    /// The sessions of a user, the oldest first.
    package func sessions(of userID: UInt64, at now: Int64) -> [SessionRow] {
        let hashes = byID.withPart(of: userID) { $0[userID]?.sessions ?? [] }
        return hashes.compactMap { session($0, at: now) }
    }

    /// When a session was used last, as far as that was logged.
    package func useTime(of session: SessionRow) -> Int64 {
        session.expireTimeMilliseconds - limits.sessionDuration.millisecondsRoundedDown
    }

    /// Whether a use of the session is to be logged by ``renew(_:at:_:)``: the last one is a while ago.
    package func isDue(_ session: SessionRow, at now: Int64) -> Bool {
        let renewed = limits.renewalInterval.millisecondsRoundedDown
        return expireTime(now) - session.expireTimeMilliseconds >= renewed
    }

    /// Whether half of the session's time is over since its last logged use.
    package func isHalfOver(_ session: SessionRow, at now: Int64) -> Bool {
        let half = limits.sessionDuration.millisecondsRoundedDown / 2
        return expireTime(now) - session.expireTimeMilliseconds >= half
    }

    /// How long a session needs no further look: it expires after that, or a use is to be logged.
    ///
    /// The time until a use is to be logged does not count if that is so already.
    package func quietTime(of session: SessionRow, at now: Int64) -> Duration {
        let lifetime = max(session.expireTimeMilliseconds - now, 0)
        guard !isDue(session, at: now) else { return .milliseconds(lifetime) }
        let used = expireTime(now) - session.expireTimeMilliseconds
        let undue = limits.renewalInterval.millisecondsRoundedDown - used
        return .milliseconds(min(lifetime, undue))
    }

    /// Lets a used session last for the whole duration from now; nil if it has ended.
    package func renew(
        _ session: SessionRow,
        at now: Int64,
        _ sink: some AccountChangeSink
    ) -> SessionRow? {
        sessions.renew(session.tokenHash, until: expireTime(now), sink)
    }

    /// Ends one session; without effect if it has ended.
    package func end(_ session: TokenHash, _ sink: some AccountChangeSink) {
        guard let row = sessions.remove(session, sink) else { return }
        forget(row)
        revocations.wrappingAdd(1, ordering: .acquiringAndReleasing)
    }

    /// Ends all sessions of a user, those too that begin at this moment.
    package func endAllSessions(of userID: UInt64, _ sink: some AccountChangeSink) {
        let ended = byID.withPart(of: userID) { entries -> [TokenHash] in
            guard var entry = entries[userID] else { return [] }
            defer { entries[userID] = entry }
            return endTokens(of: &entry, sink)
        }
        remove(ended, sink)
    }

    private func endTokens(of entry: inout Entry, _ sink: some AccountChangeSink) -> [TokenHash] {
        let generation = entry.generation + 1
        sink.append(endOfSessionsOf: entry.row.id, generation: generation)
        return entry.endTokens(generation: generation)
    }

    /// Forgets tokens that have ended with their generation.
    private func remove(_ ended: [TokenHash], _ sink: some AccountChangeSink) {
        for hash in ended { _ = sessions.remove(hash, sink) }
        revocations.wrappingAdd(1, ordering: .acquiringAndReleasing)
    }

    /// Looks at so many sessions of one part of the table, the next one with each call, and forgets those
    /// that have expired; O(limit).
    ///
    /// - Returns: The number of the sessions that were forgotten.
    package func sweep(at now: Int64, limit: Int, _ sink: some AccountChangeSink) -> Int {
        let part = sweptPart.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max
        let expired = sessions.removeExpired(inPart: part, at: now, lookingAt: limit, sink)
        for row in expired { forget(row) }
        return expired.count
    }

    private func expireTime(_ now: Int64) -> Int64 {
        now + limits.sessionDuration.millisecondsRoundedDown
    }

    /// Puts the accounts and sessions of an earlier run back, before any other call.
    package func restore(_ state: AccountsState) throws(AccountError) {
        for row in state.accounts {
            try restore(row, generation: state.generations[row.id] ?? 0)
        }
        // The oldest session of a user is the one that expires first.
        let rows = state.sessions.sorted {
            $0.expireTimeMilliseconds < $1.expireTimeMilliseconds
        }
        for row in rows {
            guard let generation = generation(of: row.userID),
                row.generation >= generation
            else { continue }
            guard sessions.insert(row, NoAccountChanges()) else {
                throw .badSession(userID: row.userID)
            }
            _ = add(row, limit: .max)
        }
    }

    private func restore(_ row: AccountRow, generation: UInt64) throws(AccountError) {
        guard row.id > 0, row.id >> 63 == 0 else { throw .badAccount(id: row.id) }
        try takeEmail(of: row)
        let other = byID.withPart(of: row.id) { entries in
            entries.updateValue(Entry(row: row, generation: generation), forKey: row.id)
        }
        guard other == nil else { throw .badAccount(id: row.id) }
        count.wrappingAdd(1, ordering: .relaxed)
        skipNumbers(upTo: row.id)
        noteErasure(of: row)
    }

    /// Gives an e-mail to the account that is put back with it; a deleted one has none.
    private func takeEmail(of row: AccountRow) throws(AccountError) {
        let isRight =
            if row.isDeleted {
                row.hasNoTexts
            } else if let email = EmailAddress(row.email) {
                byEmail.withPart(of: email.key) { $0.updateValue(row.id, forKey: email.key) } == nil
            } else {
                false
            }
        guard isRight else { throw .badAccount(id: row.id) }
    }

    // A follower's one applying thread puts rows back while other threads read. Nobody else changes the
    // tables, and each call changes nothing where it was made before.

    /// Puts accounts back, or later versions of them; some may be there already.
    ///
    /// Within a record one account may have got the e-mail that another one gave up: first all of them
    /// give up what they had.
    package func restore(_ rows: some Collection<AccountRow>) throws(AccountError) {
        let news = rows.filter { row in
            guard let known = self.row(row.id) else { return true }
            return row.version == known.version ? row != known : row.version > known.version
        }
        for row in news {
            guard let known = self.row(row.id), row.version > known.version else { continue }
            byEmail.withPart(of: known.emailKey) { $0[known.emailKey] = nil }
        }
        for row in news {
            guard let known = self.row(row.id), row.version > known.version else {
                try restore(row, generation: 0)
                continue
            }
            try takeEmail(of: row)
            byID.withPart(of: row.id) { $0[row.id]?.row = row }
            noteErasure(of: row)
        }
    }

    /// Puts a session back, or its later expiry; not one of a generation that has ended.
    package func restore(_ row: SessionRow) throws(AccountError) {
        guard let generation = generation(of: row.userID), row.generation >= generation else {
            return
        }
        let time = row.expireTimeMilliseconds
        if sessions.renew(row.tokenHash, until: time, NoAccountChanges()) != nil { return }
        guard sessions.insert(row, NoAccountChanges()) else {
            throw .badSession(userID: row.userID)
        }
        _ = add(row, limit: .max)
    }

    /// Ends a session, unless that was done.
    package func restore(endOf session: TokenHash) { end(session, NoAccountChanges()) }

    /// Ends a user's sessions below a generation, unless that was done.
    package func restore(endOfSessionsOf userID: UInt64, generation: UInt64) {
        let ended = byID.withPart(of: userID) { entries -> [TokenHash] in
            guard var entry = entries[userID], entry.generation < generation else { return [] }
            defer { entries[userID] = entry }
            return entry.endTokens(generation: generation)
        }
        remove(ended, NoAccountChanges())
    }

    /// Gives no account this number or one below it, before any other call but `restore`.
    package func skipNumbers(upTo id: UInt64) {
        lastID.store(max(lastID.load(ordering: .relaxed), id), ordering: .relaxed)
    }

    /// All accounts and sessions; O(both), for tests.
    package func state() -> AccountsState {
        var state = AccountsState()
        byID.visit { part in
            for entry in part.values {
                state.accounts.append(entry.row)
                if entry.generation > 0 { state.generations[entry.row.id] = entry.generation }
            }
        }
        sessions.visit { state.sessions.append($0) }
        return state
    }
}

/// All accounts and sessions, as a start puts them back and as tests compare them.
package struct AccountsState: Equatable, Sendable {
    package var accounts: [AccountRow] = []
    /// The generations of users who have ended all their sessions; 0 for the others.
    package var generations: [UInt64: UInt64] = [:]
    /// The sessions that were not ended one by one, in any order; some may be void.
    package var sessions: [SessionRow] = []

    package init() {}
}

/// Takes the changes of accounts and sessions, each in the critical section that makes it.
///
/// The tables call a sink under the lock that guards the change, so a sink returns at once and takes
/// no other lock. Its caller has begun a transaction of the log that the sink writes.
///
/// The log entries have no revision, so those of different event loops may be replayed in any
/// order within a commit batch. The values are such that the order does not matter:
///
/// - of several rows of an account, the one of the latest version stands;
/// - of several rows of a session, the one that expires last stands;
/// - the end of a session stands, also if a row of the session comes after it: no two sessions have
///   the same hash;
/// - of several generations of a user, the highest stands.
package protocol AccountChangeSink {
    func append(_ account: AccountRow)

    /// A session was begun, or expires later now.
    func append(_ session: SessionRow)

    /// A session has ended and is forgotten.
    func append(endOf session: TokenHash)

    /// All sessions of a user of an earlier generation have ended.
    func append(endOfSessionsOf userID: UInt64, generation: UInt64)
}

private struct NoAccountChanges: AccountChangeSink {
    func append(_ account: AccountRow) {}
    func append(_ session: SessionRow) {}
    func append(endOf session: TokenHash) {}
    func append(endOfSessionsOf userID: UInt64, generation: UInt64) {}
}

/// The limits of accounts and sessions, each with its reason.
package struct AccountLimits: Sendable, Equatable {
    /// The accounts that are kept; about half a KiB of memory each.
    package var maximumAccountCount = 2_000_000
    /// The sessions of a user; the oldest one ends when a further one begins.
    package var maximumSessionsPerUser = 32
    /// The sessions of all users, expired ones that are not forgotten yet included: two for each account.
    package var maximumSessionCount = 4_000_000
    /// How long a session lasts after its last use.
    package var sessionDuration = Duration.seconds(30 * 86_400)
    /// How much of that must be over before a use is logged again: reads cost no log entry.
    package var renewalInterval = Duration.seconds(86_400)
    /// How long a token that resets a password is good for: a mail may come late.
    package var resetDuration = Duration.seconds(3600)
    /// The failed attempts to sign in, for each e-mail and for each peer, in a window.
    package var failuresPerWindow = 6
    package var failureWindow = Duration.seconds(60)
    /// The accounts that a peer may create in a window: a school or an office behind one address signs
    /// up within an hour, and a program gets few.
    package var creationsPerWindow = 20
    package var creationWindow = Duration.seconds(3600)
    /// The e-mails and the peers that these limits count at the same time; one with few attempts is
    /// forgotten for a further one.
    package var maximumLimitedKeyCount = 65_536
    /// The passwords that wait to be hashed: under half a second of work.
    package var maximumQueuedHashCount = 32

    package init() {}
}

package enum AccountError: Error, Equatable, Sendable {
    case emailTaken
    case tooManyAccounts(limit: Int)
    /// A stored account has no good e-mail or number, or those of another account.
    case badAccount(id: UInt64)
    /// A stored session has the hash of another session.
    case badSession(userID: UInt64)
}

extension AccountError: CustomStringConvertible {
    /// What is wrong; it names no e-mail, as the text may be logged.
    package var description: String {
        switch self {
        case .emailTaken: "There is an account with this e-mail."
        case .tooManyAccounts(let limit): "There are \(limit) accounts, which is the limit."
        case .badAccount(let id):
            "The stored account \(id) has no good e-mail or number, or those of another account."
        case .badSession(let id): "A stored session of the account \(id) is there twice."
        }
    }
}

/// An e-mail by which a user signs in.
///
/// Two addresses are the same account if they differ only in the case of ASCII letters, also before
/// the `@`, where mail servers could tell them apart but people do not. Other characters are compared
/// byte by byte: the folding of all of Unicode changes from version to version, and a key that is
/// kept for years must not.
package struct EmailAddress: Sendable {
    /// The longest address, in bytes (RFC 5321).
    package static let maximumByteCount = 254

    package let text: String
    /// The bytes of the address with its ASCII letters in lower case, by which the account is found.
    ///
    /// No text: Swift takes texts for equal whose characters are, as "é" in one scalar and in two.
    package let key: [UInt8]

    /// Reads an address; nil unless it is well formed.
    ///
    /// It has at most 254 bytes and one `@`, with something before and behind it, and no space or ASCII
    /// control character. Whether mail arrives there is not known.
    package init?(_ text: String) {
        let bytes = text.utf8
        guard bytes.count <= Self.maximumByteCount,
            bytes.count(where: { $0 == Self.at }) == 1,
            bytes.first != Self.at, bytes.last != Self.at,
            !bytes.contains(where: { $0 <= 0x20 || $0 == 0x7f })
        else { return nil }
        self.text = text
        key = Self.key(of: text)
    }

    static func key(of text: String) -> [UInt8] {
        text.utf8.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
    }

    private static let at = UInt8(ascii: "@")
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
