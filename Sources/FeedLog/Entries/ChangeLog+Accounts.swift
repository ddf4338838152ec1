package import FeedAccounts

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
