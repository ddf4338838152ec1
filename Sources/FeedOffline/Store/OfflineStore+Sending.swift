package import FeedClient
package import FeedProto
import FeedSQLite

/// A change that leaves: its entry has its sequence in the file.
package struct NumberedEntry: Sendable {
    /// The entry.
    package let number: UInt64
    /// What is sent.
    package let change: NumberedChange
}

/// What the service said to an entry.
package enum OutboxOutcome: Sendable {
    /// It certainly had no effect, and is sent later as if it had not left.
    case notSent
    /// It was executed.
    case done(Answer)
    /// It was executed, and the post was deleted since.
    case gone
    /// It was refused and had no effect.
    case failed(Status)
    /// Nobody knows whether it was executed.
    case inDoubt(OutboxDoubt)
}

/// The outbox on its way to the service.
extension OfflineStore {
    /// The most entries that leave together, far below the 256 sequences that a service remembers.
    static let maximumBatchCount = 32

    /// Notes that a Hello is about to be sent: it may make the channel, and its answer may be lost.
    ///
    /// - Returns: Who says it, and whether the answer to an earlier one may have been lost.
    func beginGreeting() throws(OfflineError) -> OutboxIdentity {
        try database.transaction { () throws(OfflineError) in
            let identity = try identity()
            try database.run("UPDATE identity SET is_greeting = 1")
            return identity
        }
    }

    /// Compares what the service remembers with the file, and lets the entries that may have been executed
    /// come into doubt where the service cannot tell.
    ///
    /// - Parameters:
    ///   - hello: What the service answered.
    ///   - hasLostHello: Whether the answer to an earlier Hello may have been lost: a channel on which
    ///     nothing was executed may be new then.
    /// - Throws: An error of the file.
    func greeted(by hello: HelloResponse, hasLostHello: Bool) throws(OfflineError) {
        try database.transaction { () throws(OfflineError) in
            let identity = try identity()
            var doubt: OutboxDoubt?
            let isKnown = hello.isClientKnown && !(hasLostHello && hello.lastSequence == 0)
            if identity.instanceID != 0, identity.instanceID != hello.instanceID {
                doubt = .stateReplaced
            } else if !isKnown {
                doubt = .channelForgotten
            }
            if let doubt {
                for row in try outboxRows("WHERE state = 2") { try put(row, .inDoubt(doubt)) }
            }
            var next = identity.nextSequence
            // No outbox comes to 2^62; a higher one would leave no room below the file's 2^63.
            if hello.lastSequence >= next, hello.lastSequence < 1 << 62 {
                next = hello.lastSequence + 1
                for row in try outboxRows("WHERE state <= 2") { try put(row, .inDoubt(.fileIsOld)) }
            }
            for var row in try outboxRows("WHERE state = 1")
            where row.instanceID != hello.instanceID {
                if row.instanceID == 0 {
                    // It was made before the first greeting: it is of this instance.
                    row.instanceID = hello.instanceID
                    try write(row)
                } else if row.request.namedPosts.contains(where: { !LocalPostID.isLocal($0) }) {
                    // A post that was made here is of no state of the service yet.
                    try put(row, .inDoubt(.otherPosts))
                } else if row.userID != 0 {
                    try put(row, .inDoubt(.otherAccount))
                }
            }
            let viewerID = hello.user?.id ?? 0
            if identity.viewerID != viewerID { try beginChainsAnew() }
            try database.run(
                "UPDATE identity SET instance = ?, is_greeting = 0, next_sequence = ?, viewer = ?",
                [.id(hello.instanceID), .id(next), .id(viewerID)]
            )
        }
    }

    /// The next entries of an account to send, each with its sequence, which the file has before they
    /// leave.
    ///
    /// Entries that may have left before come first. Votes and marks of different posts leave together;
    /// any other change leaves alone, so that the service executes them in their order.
    func numberNext(of userID: UInt64) throws(OfflineError) -> [NumberedEntry] {
        let again = try outboxRows(
            "WHERE state = 2 AND user = ? ORDER BY sequence LIMIT \(Self.maximumBatchCount)",
            [.id(userID)]
        )
        guard again.isEmpty else { return again.map { $0.numbered(mayHaveLeft: true) } }
        let rows = try nextRows(of: userID)
        guard !rows.isEmpty else { return [] }
        return try database.transaction { () throws(OfflineError) in
            var sequence = try identity().nextSequence
            var numbered: [NumberedEntry] = []
            for var row in rows {
                row.state = .sent
                row.sequence = sequence
                sequence += 1
                try write(row)
                numbered.append(row.numbered(mayHaveLeft: false))
            }
            try database.run("UPDATE identity SET next_sequence = ?", [.id(sequence)])
            return numbered
        }
    }

    /// Takes what the service said to entries.
    func settle(_ outcomes: [(number: UInt64, outcome: OutboxOutcome)]) throws(OfflineError) {
        try database.transaction { () throws(OfflineError) in
            for (number, outcome) in outcomes {
                // The program may have dropped it meanwhile.
                guard let row = try outboxRows("WHERE number = ?", [.id(number)]).first else {
                    continue
                }
                switch outcome {
                case .done(let answer): try finish(row.entry, answer)
                case .gone: try finishGone(row.entry)
                case .notSent:
                    var unsent = row
                    unsent.sequence = 0
                    try put(unsent, .waiting)
                case .failed(let status): try put(row, .failed(status))
                case .inDoubt(let doubt): try put(row, .inDoubt(doubt))
                }
            }
        }
    }

    /// Gives an entry another state; a part of a transaction.
    func put(_ row: OutboxRow, _ state: OutboxState) throws(OfflineError) {
        var row = row
        row.state = state
        try write(row)
        try refreshPosts(of: [row.entry])
    }

    private func nextRows(of userID: UInt64) throws(OfflineError) -> [OutboxRow] {
        var next: [OutboxRow] = []
        var posts: Set<UInt64> = []
        let sql = """
            SELECT \(OutboxRow.columns) FROM outbox WHERE state = 1 AND user = ? ORDER BY number
            """
        try database.rows(sql, [.id(userID)]) { statement throws(OfflineError) in
            let row = try OutboxRow(statement, &blobs)
            let named = row.request.namedPosts
            // It waits for the id of a post that another entry creates.
            if named.contains(where: LocalPostID.isLocal) { return true }
            guard row.request.isIndependent else {
                if next.isEmpty { next = [row] }
                return false
            }
            guard posts.isDisjoint(with: named) else { return false }
            posts.formUnion(named)
            next.append(row)
            return next.count < Self.maximumBatchCount
        }
        return next
    }
}

extension OutboxRow {
    fileprivate func numbered(mayHaveLeft: Bool) -> NumberedEntry {
        NumberedEntry(
            number: number,
            change: NumberedChange(request, sequence: sequence, mayHaveLeft: mayHaveLeft)
        )
    }
}
