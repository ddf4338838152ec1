package import FeedAccounts
package import FeedRanking

/// The redo of one write in a log: the values after the write.
///
/// Replay puts the values back without a clock or random numbers. An entry with a revision has the values of
/// its key as of that revision. So an entry that is applied twice, or after a newer one, changes nothing.
package enum LogEntry: Equatable, Sendable {
    /// A vote that a tally counted.
    case counts(PostCounts)
    /// A voter's ballot, nil where it was withdrawn, and the counts with it.
    case ballot(PostCounts, VoterID, VoteDirection?)
    /// A post as it was created, imported, edited or corrected.
    ///
    /// It is indirect, as a feed is, so that frequent entries are moved without room for texts.
    indirect case post(PostState)
    case deletion(PostID, revision: UInt64)
    indirect case feed(FeedID, FeedPolicy)
    case voter(VoterID, device: Device16)
    /// A channel was seen for the first time.
    case channel(ChannelState)
    case outcome(ChannelOutcome)
    case userVoter(VoterID, userID: UInt64)
    /// An account that is new, or as it was changed; level 2 if it was.
    indirect case account(AccountRow)
    /// A session that began, or that expires later now; level 2 if it is a reset.
    case session(SessionRow)
    /// A session has ended; its token never comes back.
    case sessionEnded(TokenHash)
    /// All sessions of a user below a generation have ended.
    case sessionsEnded(userID: UInt64, generation: UInt64)
    case marks(PostMarks)
    case markThrough(MarkThrough)
    /// A channel was forgotten, as the leader of a cluster has decided; level 1.
    case evictedChannel(UInt64)
    /// The latest id and the latest revision given are at least these.
    case counters(lastID: UInt64, revision: UInt64)

    /// The revision that orders the entry in its commit batch; nil for an entry without one.
    package var revision: UInt64? {
        switch self {
        case .counts(let counts), .ballot(let counts, _, _): counts.revision
        case .post(let post): post.counts.revision
        case .deletion(_, let revision): revision
        case .marks(let marks): marks.revision
        case .markThrough(let mark): mark.revision
        case .feed, .voter, .channel, .outcome, .evictedChannel, .counters, .userVoter, .account,
            .session, .sessionEnded, .sessionsEnded:
            nil
        }
    }
}

extension FeedStore {
    /// Puts a log entry back; O(1) beside the post's texts, save for the order of a new title or time.
    ///
    /// An entry that is not newer than the store's state changes nothing. The store has no
    /// channels and no accounts, so their entries change nothing either. One thread calls this,
    /// before any other uses the store or as `FollowedLog` says.
    package func apply(_ entry: LogEntry) throws(RecoveryError) {
        switch entry {
        case .counts(let counts): try restore(counts)
        case .ballot(let counts, let voter, let direction):
            try restore(counts, voter, direction)
        case .post(let post): try restore(post)
        case .deletion(let id, let revision): try restore(deletionOf: id, revision: revision)
        case .feed(let feed, let policy): try restore(feed, policy)
        case .voter(let voter, let device): try restore(voter, device)
        case .counters(let lastID, let revision): try restore(lastID: lastID, revision: revision)
        case .channel, .outcome, .evictedChannel: break
        case .account, .session, .sessionEnded, .sessionsEnded: break
        case .userVoter(let voter, let user): try restore(voter, user: user)
        case .marks(let marks): try restore(marks)
        case .markThrough(let mark): try restore(mark)
        }
    }
}

/// The first byte of a log entry; `docs/STORAGE.md` has the fields of each kind.
enum LogEntryKind {
    static let counts: UInt8 = 1
    static let ballot: UInt8 = 2
    /// A post whose author is not known.
    static let post: UInt8 = 3
    /// The last of the first kinds that have a revision.
    static let deletion: UInt8 = 4
    static let feed: UInt8 = 5
    static let voter: UInt8 = 6
    static let channel: UInt8 = 7
    static let done: UInt8 = 8
    static let outcomeID: UInt8 = 9
    static let items: UInt8 = 10
    static let counters: UInt8 = 11
    static let userVoter: UInt8 = 12
    static let account: UInt8 = 13
    static let session: UInt8 = 14
    static let sessionEnded: UInt8 = 15
    static let sessionsEnded: UInt8 = 16
    /// A post whose author is known: the first of the other kinds that have a revision.
    static let authoredPost: UInt8 = 17
    static let marks: UInt8 = 18
    static let markThrough: UInt8 = 19
    // The same as counts, ballot and post, with a sum of RISING.
    static let risingCounts: UInt8 = 20
    static let risingBallot: UInt8 = 21
    /// The last kind that has a revision.
    static let risingPost: UInt8 = 22
    static let evictedChannel: UInt8 = 23
    /// An account that was changed.
    static let changedAccount: UInt8 = 24
    /// A token that resets a password.
    static let passwordReset: UInt8 = 25

    /// Whether the kind is followed by the difference to the log's last revision.
    @inline(__always)
    static func hasRevision(_ kind: UInt8) -> Bool {
        kind &- counts <= deletion - counts || kind &- authoredPost <= risingPost - authoredPost
    }
}

extension ChangeLog: ChangeSink {
    @inline(__always)
    package func append(_ counts: PostCounts) {
        if counts.risingSum.rawValue == 0 {
            write(LogEntryKind.counts, revision: counts.revision, atMost: 30) { writer in
                writer.counts(counts)
            }
        } else {
            write(LogEntryKind.risingCounts, revision: counts.revision, atMost: 44) { writer in
                writer.counts(counts)
                writer.risingSum(counts.risingSum)
            }
        }
    }

    @inline(__always)
    package func append(_ counts: PostCounts, _ voter: VoterID, _ direction: VoteDirection?) {
        let hasSum = counts.risingSum.rawValue != 0
        let kind = hasSum ? LogEntryKind.risingBallot : LogEntryKind.ballot
        write(kind, revision: counts.revision, atMost: 54) { writer in
            writer.counts(counts)
            writer.varint(UInt64(voter.rawValue) << 2 | UInt64(direction?.rawValue ?? 0))
            if hasSum { writer.risingSum(counts.risingSum) }
        }
    }

    package func append(_ post: PostState) {
        let content = post.content
        let texts = content.texts
        let byteCount = texts.reduce(PostContent.entryNumbersByteCount) { $0 + $1.utf8.count }
        let counts = post.counts
        let createTime = UInt64(bitPattern: post.createTimeMilliseconds)
        let updateTime = UInt64(bitPattern: post.updateTimeMilliseconds)
        let editAge = counts.revision &- post.editRevision
        let hasSum = counts.risingSum.rawValue != 0
        let hasAuthor = content.authorID > 0
        let kind =
            hasSum
            ? LogEntryKind.risingPost : hasAuthor ? LogEntryKind.authoredPost : LogEntryKind.post
        write(kind, revision: counts.revision, atMost: byteCount) { writer in
            writer.counts(counts)
            writer.varint(UInt64(post.feed.rawValue))
            writer.byte(post.keepsBallots ? 1 : 0)
            writer.varint(createTime)
            writer.varint(updateTime &- createTime)
            writer.varint(editAge)
            writer.varint(content.commentCount)
            if hasSum || hasAuthor { writer.varint(content.authorID) }
            if hasSum { writer.risingSum(counts.risingSum) }
            for text in texts { writer.text(text) }
        }
    }

    package func append(deletionOf id: PostID, revision: UInt64) {
        write(LogEntryKind.deletion, revision: revision, atMost: 10) { writer in
            writer.varint(id.rawValue)
        }
    }

    package func append(_ feed: FeedID, _ policy: FeedPolicy) {
        let byteCount = policy.name.utf8.count + 52
        write(LogEntryKind.feed, revision: nil, atMost: byteCount) { writer in
            writer.varint(UInt64(feed.rawValue))
            writer.byte(policy.defaultOrder.rawValue)
            writer.byte(policy.voteMode.rawValue)
            writer.varint(UInt64(policy.maximumTitleCharacterCount))
            writer.varint(UInt64(policy.minimumTextCharacterCount))
            writer.varint(UInt64(policy.maximumTextCharacterCount))
            writer.text(policy.name)
        }
    }

    package func append(_ voter: VoterID, _ device: Device16) {
        write(LogEntryKind.voter, revision: nil, atMost: 26) { writer in
            writer.varint(UInt64(voter.rawValue))
            writer.fixed(device.high)
            writer.fixed(device.low)
        }
    }

    package func append(_ voter: VoterID, user: UInt64) {
        write(LogEntryKind.userVoter, revision: nil, atMost: 20) { writer in
            writer.varint(UInt64(voter.rawValue))
            writer.varint(user)
        }
    }

    package func append(_ marks: PostMarks) {
        write(LogEntryKind.marks, revision: marks.revision, atMost: 16) { writer in
            writer.varint(UInt64(marks.viewer.rawValue))
            writer.varint(marks.post.rawValue)
            writer.byte(marks.marks.rawValue)
        }
    }

    package func append(_ mark: MarkThrough) {
        write(LogEntryKind.markThrough, revision: mark.revision, atMost: 37) { writer in
            writer.varint(UInt64(mark.viewer.rawValue))
            // 0 is all feeds.
            writer.varint(mark.feed.map { UInt64($0.rawValue) + 1 } ?? 0)
            writer.byte(mark.mark.rawValue)
            writer.varint(UInt64(bitPattern: mark.createTimeMilliseconds))
            writer.varint(mark.post.rawValue)
            writer.byte(mark.place)
        }
    }

    package func append(_ channel: ChannelState) {
        write(LogEntryKind.channel, revision: nil, atMost: 36) { writer in
            writer.varint(channel.number)
            writer.fixed(channel.clientHigh)
            writer.fixed(channel.clientLow)
            writer.varint(UInt64(channel.channel))
        }
    }

    package func append(evictionOfChannel number: UInt64) {
        write(LogEntryKind.evictedChannel, revision: nil, atMost: 10) { writer in
            writer.varint(number)
        }
    }

    package func append(_ outcome: ChannelOutcome) {
        let kind =
            switch outcome.outcome {
            case .done: LogEntryKind.done
            case .id: LogEntryKind.outcomeID
            case .items: LogEntryKind.items
            }
        write(kind, revision: nil, atMost: 64) { writer in
            writer.varint(outcome.channel)
            writer.varint(outcome.sequence)
            writer.fixed(outcome.requestHash)
            switch outcome.outcome {
            case .done: break
            case .id(let id): writer.varint(id)
            case .items(let mask):
                writer.varint(mask.word0)
                writer.varint(mask.word1)
                writer.varint(mask.word2)
                writer.varint(mask.word3)
            }
        }
    }

    package func append(lastID: UInt64, revision: UInt64) {
        write(LogEntryKind.counters, revision: nil, atMost: 20) { writer in
            writer.varint(lastID)
            writer.varint(revision)
        }
    }

    /// Appends any log entry in the form that the writes of the store use; O(its bytes).
    package func append(_ entry: LogEntry) {
        switch entry {
        case .counts(let counts): append(counts)
        case .ballot(let counts, let voter, let direction): append(counts, voter, direction)
        case .post(let post): append(post)
        case .deletion(let id, let revision): append(deletionOf: id, revision: revision)
        case .feed(let feed, let policy): append(feed, policy)
        case .voter(let voter, let device): append(voter, device)
        case .channel(let channel): append(channel)
        case .outcome(let outcome): append(outcome)
        case .userVoter(let voter, let user): append(voter, user: user)
        case .account(let account): append(account)
        case .session(let session): append(session)
        case .sessionEnded(let hash): append(endOf: hash)
        case .sessionsEnded(let user, let generation):
            append(endOfSessionsOf: user, generation: generation)
        case .marks(let marks): append(marks)
        case .markThrough(let mark): append(mark)
        case .evictedChannel(let number): append(evictionOfChannel: number)
        case .counters(let lastID, let revision): append(lastID: lastID, revision: revision)
        }
    }
}

extension PostContent {
    /// The most bytes that the log entry of a post with this content takes; O(1).
    package var maximumLogEntryByteCount: Int {
        let numbers = LogEntryWriter.headByteCount + Self.entryNumbersByteCount
        return texts.reduce(numbers) { $0 + $1.utf8.count }
    }

    /// The most bytes of a post's numbers and of the lengths of its texts.
    fileprivate static var entryNumbersByteCount: Int { 170 }

    fileprivate var texts: [String] {
        [authorName, title, text, linkURL, thumbnailURL, imageURL]
    }
}

extension LogEntryWriter {
    /// Writes a sum of RISING: its upper half, which is small as a rule, and its lower half.
    @inline(__always)
    fileprivate mutating func risingSum(_ sum: RisingSum) {
        varint(sum.rawValue >> 32)
        fixed(UInt32(truncatingIfNeeded: sum.rawValue))
    }

    /// Writes a post's id and its votes; the revision is written before them.
    @inline(__always)
    fileprivate mutating func counts(_ counts: PostCounts) {
        varint(counts.id.rawValue)
        varint(counts.upvoteCount)
        varint(counts.downvoteCount)
    }
}

extension ChangeLog: AccountChangeSink {
    package func append(_ account: AccountRow) {
        let texts = [account.email, account.displayName, account.passwordHash]
        let byteCount = texts.reduce(80) { $0 + $1.utf8.count }
        let isChanged = account.version > 0
        let kind = isChanged ? LogEntryKind.changedAccount : LogEntryKind.account
        write(kind, revision: nil, atMost: byteCount) { writer in
            writer.varint(account.id)
            writer.varint(UInt64(bitPattern: account.createTimeMilliseconds))
            if isChanged {
                writer.varint(account.version)
                writer.byte(account.status.rawValue)
            }
            for text in texts { writer.text(text) }
        }
    }

    package func append(_ session: SessionRow) {
        let kind =
            switch session.kind {
            case .session: LogEntryKind.session
            case .passwordReset: LogEntryKind.passwordReset
            }
        write(kind, revision: nil, atMost: 62) { writer in
            writer.hash(session.tokenHash)
            writer.varint(session.userID)
            writer.varint(UInt64(bitPattern: session.expireTimeMilliseconds))
            writer.varint(session.generation)
        }
    }

    package func append(endOf session: TokenHash) {
        write(LogEntryKind.sessionEnded, revision: nil, atMost: 32) { writer in
            writer.hash(session)
        }
    }

    package func append(endOfSessionsOf userID: UInt64, generation: UInt64) {
        write(LogEntryKind.sessionsEnded, revision: nil, atMost: 20) { writer in
            writer.varint(userID)
            writer.varint(generation)
        }
    }
}

extension LogEntryWriter {
    fileprivate mutating func hash(_ hash: TokenHash) {
        fixed(hash.word0)
        fixed(hash.word1)
        fixed(hash.word2)
        fixed(hash.word3)
    }
}

extension LogEntryFields {
    @inline(__always)
    mutating func entry(
        revision: UInt64,
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> LogEntry {
        if kind == LogEntryKind.risingCounts {
            var counts = try counts(revision, bytes)
            counts.risingSum = try risingSum(bytes)
            return .counts(counts)
        }
        if kind == LogEntryKind.counts { return .counts(try counts(revision, bytes)) }
        if kind == LogEntryKind.risingBallot || kind == LogEntryKind.ballot {
            return try ballot(revision, bytes)
        }
        return try otherEntry(revision, bytes)
    }

    @inline(never)
    private mutating func otherEntry(
        _ revision: UInt64,
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> LogEntry {
        switch kind {
        case LogEntryKind.post, LogEntryKind.authoredPost, LogEntryKind.risingPost:
            return .post(try post(revision, bytes))
        case LogEntryKind.deletion:
            return .deletion(PostID(rawValue: try varint(bytes)), revision: revision)
        case LogEntryKind.feed: return try feed(bytes)
        case LogEntryKind.voter:
            let voter = try voterID(bytes)
            let high = try fixed(byteCount: 8, bytes)
            return .voter(voter, device: Device16(high: high, low: try fixed(byteCount: 8, bytes)))
        case LogEntryKind.userVoter:
            return .userVoter(try voterID(bytes), userID: try varint(bytes))
        case LogEntryKind.account, LogEntryKind.changedAccount:
            return .account(try account(bytes))
        case LogEntryKind.session, LogEntryKind.passwordReset:
            return .session(try session(bytes))
        case LogEntryKind.sessionEnded: return .sessionEnded(try tokenHash(bytes))
        case LogEntryKind.sessionsEnded:
            return .sessionsEnded(userID: try varint(bytes), generation: try varint(bytes))
        case LogEntryKind.marks: return .marks(try marks(revision, bytes))
        case LogEntryKind.markThrough: return .markThrough(try markThrough(revision, bytes))
        case LogEntryKind.channel:
            return .channel(
                ChannelState(
                    number: try varint(bytes),
                    clientHigh: try fixed(byteCount: 8, bytes),
                    clientLow: try fixed(byteCount: 8, bytes),
                    channel: try varint(as: UInt32.self, bytes)
                )
            )
        case LogEntryKind.done, LogEntryKind.outcomeID, LogEntryKind.items:
            return .outcome(try outcome(bytes))
        case LogEntryKind.evictedChannel: return .evictedChannel(try varint(bytes))
        case LogEntryKind.counters:
            return .counters(lastID: try varint(bytes), revision: try varint(bytes))
        default: throw .unknownKind(kind, offset: start)
        }
    }

    @inline(__always)
    private mutating func counts(
        _ revision: UInt64,
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> PostCounts {
        PostCounts(
            id: PostID(rawValue: try varint(bytes)),
            upvoteCount: try varint(bytes),
            downvoteCount: try varint(bytes),
            revision: revision
        )
    }

    @inline(__always)
    private mutating func risingSum(
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> RisingSum {
        let upper = try varint(as: UInt32.self, bytes)
        let lower = try fixed(byteCount: 4, bytes)
        guard upper != 0 else { throw badValue }
        return RisingSum(rawValue: UInt64(upper) << 32 | lower)
    }

    @inline(__always)
    private mutating func ballot(
        _ revision: UInt64,
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> LogEntry {
        var counts = try counts(revision, bytes)
        let packed = try varint(bytes)
        guard let voter = UInt32(exactly: packed >> 2) else { throw badValue }
        let direction = VoteDirection(rawValue: UInt8(packed & 3))
        guard direction != .clear else { throw badValue }
        if kind == LogEntryKind.risingBallot { counts.risingSum = try risingSum(bytes) }
        return .ballot(counts, VoterID(rawValue: voter), direction)
    }

    private mutating func post(
        _ revision: UInt64,
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> PostState {
        var counts = try counts(revision, bytes)
        let feed = FeedID(rawValue: try varint(as: UInt32.self, bytes))
        let mode = try byte(bytes)
        guard mode <= 1 else { throw badValue }
        let createTime = try varint(bytes)
        let updateTime = createTime &+ (try varint(bytes))
        let editAge = try varint(bytes)
        guard editAge <= revision else { throw badValue }
        var content = PostContent(commentCount: try varint(bytes))
        if kind != LogEntryKind.post {
            content.authorID = try varint(bytes)
            guard content.authorID > 0 || kind == LogEntryKind.risingPost else { throw badValue }
        }
        if kind == LogEntryKind.risingPost { counts.risingSum = try risingSum(bytes) }
        content.authorName = try text(bytes)
        content.title = try text(bytes)
        content.text = try text(bytes)
        content.linkURL = try text(bytes)
        content.thumbnailURL = try text(bytes)
        content.imageURL = try text(bytes)
        return PostState(
            counts: counts,
            feed: feed,
            keepsBallots: mode == 1,
            createTimeMilliseconds: Int64(bitPattern: createTime),
            updateTimeMilliseconds: Int64(bitPattern: updateTime),
            editRevision: revision - editAge,
            content: content
        )
    }

    private mutating func feed(_ bytes: borrowing LogBytes) throws(LogEntryError) -> LogEntry {
        let id = FeedID(rawValue: try varint(as: UInt32.self, bytes))
        guard let order = Order(rawValue: try byte(bytes)) else { throw badValue }
        guard let mode = VoteMode(rawValue: try byte(bytes)) else { throw badValue }
        let maximumTitle = try varint(as: Int.self, bytes)
        let minimumText = try varint(as: Int.self, bytes)
        let maximumText = try varint(as: Int.self, bytes)
        let policy = FeedPolicy(
            name: try text(bytes),
            defaultOrder: order,
            voteMode: mode,
            maximumTitleCharacterCount: maximumTitle,
            minimumTextCharacterCount: minimumText,
            maximumTextCharacterCount: maximumText
        )
        return .feed(id, policy)
    }

    private mutating func outcome(
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> ChannelOutcome {
        let channel = try varint(bytes)
        let sequence = try varint(bytes)
        let hash = UInt32(truncatingIfNeeded: try fixed(byteCount: 4, bytes))
        let outcome: Outcome
        switch kind {
        case LogEntryKind.done: outcome = .done
        case LogEntryKind.outcomeID: outcome = .id(try varint(bytes))
        default:
            outcome = .items(
                ItemMask(try varint(bytes), try varint(bytes), try varint(bytes), try varint(bytes))
            )
        }
        return ChannelOutcome(
            channel: channel,
            sequence: sequence,
            requestHash: hash,
            outcome: outcome
        )
    }

    private mutating func account(_ bytes: borrowing LogBytes) throws(LogEntryError) -> AccountRow {
        let id = try varint(bytes)
        let createTime = try varint(bytes)
        var version: UInt64 = 0
        var status = AccountRow.Status.active
        if kind == LogEntryKind.changedAccount {
            version = try varint(bytes)
            guard version > 0, let known = AccountRow.Status(rawValue: try byte(bytes)) else {
                throw badValue
            }
            status = known
        }
        return AccountRow(
            id: id,
            email: try text(bytes),
            displayName: try text(bytes),
            passwordHash: try text(bytes),
            createTimeMilliseconds: Int64(bitPattern: createTime),
            version: version,
            status: status
        )
    }

    private mutating func session(_ bytes: borrowing LogBytes) throws(LogEntryError) -> SessionRow {
        SessionRow(
            tokenHash: try tokenHash(bytes),
            userID: try varint(bytes),
            expireTimeMilliseconds: Int64(bitPattern: try varint(bytes)),
            generation: try varint(bytes),
            kind: kind == LogEntryKind.passwordReset ? .passwordReset : .session
        )
    }

    private mutating func tokenHash(_ bytes: borrowing LogBytes) throws(LogEntryError) -> TokenHash
    {
        TokenHash(
            try fixed(byteCount: 8, bytes),
            try fixed(byteCount: 8, bytes),
            try fixed(byteCount: 8, bytes),
            try fixed(byteCount: 8, bytes)
        )
    }

    private mutating func voterID(_ bytes: borrowing LogBytes) throws(LogEntryError) -> VoterID {
        VoterID(rawValue: try varint(as: UInt32.self, bytes))
    }

    private mutating func marks(
        _ revision: UInt64,
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> PostMarks {
        let viewer = try voterID(bytes)
        let post = PostID(rawValue: try varint(bytes))
        let marks = MarkSet(rawValue: try byte(bytes))
        guard marks.isPossible else { throw badValue }
        return PostMarks(viewer: viewer, post: post, marks: marks, revision: revision)
    }

    private mutating func markThrough(
        _ revision: UInt64,
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> MarkThrough {
        let viewer = try voterID(bytes)
        let feed = try varint(bytes)
        guard feed <= UInt64(UInt32.max) + 1 else { throw badValue }
        guard let mark = Mark(rawValue: try byte(bytes)) else { throw badValue }
        return MarkThrough(
            viewer: viewer,
            feed: feed == 0 ? nil : FeedID(rawValue: UInt32(feed - 1)),
            mark: mark,
            createTimeMilliseconds: Int64(bitPattern: try varint(bytes)),
            post: PostID(rawValue: try varint(bytes)),
            place: try byte(bytes),
            revision: revision
        )
    }
}

/// A client's channel, on which it numbers its calls.
package struct ChannelState: Equatable, Hashable, BitwiseCopyable, Sendable {
    /// The short number that outcomes name the channel by.
    package var number: UInt64
    /// The first eight bytes of the client's id.
    package var clientHigh: UInt64
    /// The last eight bytes of the client's id.
    package var clientLow: UInt64
    package var channel: UInt32

    package init(number: UInt64, clientHigh: UInt64, clientLow: UInt64, channel: UInt32) {
        self.number = number
        self.clientHigh = clientHigh
        self.clientLow = clientLow
        self.channel = channel
    }
}

/// The outcome of a numbered call, from which a repeat of the call is answered.
package struct ChannelOutcome: Equatable, BitwiseCopyable, Sendable {
    package var channel: UInt64
    /// The call's number on its channel, from 1.
    package var sequence: UInt64
    /// A hash of the request, which distinguishes a repeat from another call with the same number.
    package var requestHash: UInt32
    package var outcome: Outcome

    package init(channel: UInt64, sequence: UInt64, requestHash: UInt32, outcome: Outcome) {
        self.channel = channel
        self.sequence = sequence
        self.requestHash = requestHash
        self.outcome = outcome
    }
}

/// The result of a numbered call; a repeat gets it together with the current state.
package enum Outcome: Equatable, BitwiseCopyable, Sendable {
    case done
    /// The id of the post that it made, or of the first of several.
    case id(UInt64)
    case items(ItemMask)
}
