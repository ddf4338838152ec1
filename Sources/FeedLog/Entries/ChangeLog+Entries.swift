package import FeedAccounts
package import FeedRanking

extension ChangeLog: AccountChangeSink {
    /// Appends an account; O(its texts).
    package func append(_ account: AccountRow) {
        let texts = [account.email, account.displayName, account.passwordHash]
        let byteCount = texts.reduce(60) { $0 + $1.utf8.count }
        write(LogEntryKind.account, revision: nil, atMost: byteCount) { writer in
            writer.varint(account.id)
            writer.varint(UInt64(bitPattern: account.createTimeMilliseconds))
            for text in texts { writer.text(text) }
        }
    }

    /// Appends a session that began, or that expires later now; O(1).
    package func append(_ session: SessionRow) {
        write(LogEntryKind.session, revision: nil, atMost: 62) { writer in
            writer.hash(session.tokenHash)
            writer.varint(session.userID)
            writer.varint(UInt64(bitPattern: session.expireTimeMilliseconds))
            writer.varint(session.generation)
        }
    }

    /// Appends that a session has ended; O(1).
    package func append(endOf session: TokenHash) {
        write(LogEntryKind.sessionEnded, revision: nil, atMost: 32) { writer in
            writer.hash(session)
        }
    }

    /// Appends that all sessions of a user below a generation have ended; O(1).
    package func append(endOfSessionsOf userID: UInt64, generation: UInt64) {
        write(LogEntryKind.sessionsEnded, revision: nil, atMost: 20) { writer in
            writer.varint(userID)
            writer.varint(generation)
        }
    }
}

extension LogEntryWriter {
    /// Writes the 32 bytes of a token's hash.
    fileprivate mutating func hash(_ hash: TokenHash) {
        fixed(hash.word0)
        fixed(hash.word1)
        fixed(hash.word2)
        fixed(hash.word3)
    }
}

extension ChangeLog: ChangeSink {
    /// Appends a tally's vote; O(1).
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

    /// Appends a voter's ballot, nil where it was withdrawn, and the counts with it; O(1).
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

    /// Appends a whole post; O(its texts).
    package func append(_ post: PostState) {
        let content = post.content
        let texts = content.texts
        let byteCount = texts.reduce(PostContent.entryNumbersByteCount) { $0 + $1.utf8.count }
        let counts = post.counts
        let feed = UInt64(post.feed.rawValue)
        let mode: UInt8 = post.keepsBallots ? 1 : 0
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
            writer.varint(feed)
            writer.byte(mode)
            writer.varint(createTime)
            writer.varint(updateTime &- createTime)
            writer.varint(editAge)
            writer.varint(content.commentCount)
            if hasSum || hasAuthor { writer.varint(content.authorID) }
            if hasSum { writer.risingSum(counts.risingSum) }
            for text in texts { writer.text(text) }
        }
    }

    /// Appends that a post was deleted; O(1).
    package func append(deletionOf id: PostID, revision: UInt64) {
        write(LogEntryKind.deletion, revision: revision, atMost: 10) { writer in
            writer.varint(id.rawValue)
        }
    }

    /// Appends a feed; O(1).
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

    /// Appends a voter's device; O(1).
    package func append(_ voter: VoterID, _ device: Device16) {
        write(LogEntryKind.voter, revision: nil, atMost: 26) { writer in
            writer.varint(UInt64(voter.rawValue))
            writer.fixed(device.high)
            writer.fixed(device.low)
        }
    }

    /// Appends that a channel was seen for the first time; O(1).
    package func append(_ channel: ChannelState) {
        write(LogEntryKind.channel, revision: nil, atMost: 36) { writer in
            writer.varint(channel.number)
            writer.fixed(channel.clientHigh)
            writer.fixed(channel.clientLow)
            writer.varint(UInt64(channel.channel))
        }
    }

    /// Appends the outcome of a numbered call; O(1).
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

    /// Appends that the counters are at least these; O(1).
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

    /// The texts in the order of their fields in the log entry.
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

extension ChangeLog {
    /// Appends a voter's user; O(1).
    package func append(_ voter: VoterID, user: UInt64) {
        write(LogEntryKind.userVoter, revision: nil, atMost: 20) { writer in
            writer.varint(UInt64(voter.rawValue))
            writer.varint(user)
        }
    }

    /// Appends a viewer's marks on a post; O(1).
    package func append(_ marks: PostMarks) {
        write(LogEntryKind.marks, revision: marks.revision, atMost: 16) { writer in
            writer.varint(UInt64(marks.viewer.rawValue))
            writer.varint(marks.post.rawValue)
            writer.byte(marks.marks.rawValue)
        }
    }

    /// Appends a viewer's mark on all posts up to one; O(1).
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
}
