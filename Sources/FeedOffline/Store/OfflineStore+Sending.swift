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
            if hello.lastSequence >= next, hello.lastSequence < .max >> 1 {
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

/// What an executed entry leaves in the copy. These functions are parts of transactions.
extension OfflineStore {
    private func finish(_ entry: OutboxEntry, _ answer: Answer) throws(OfflineError) {
        switch (entry.request, answer.response) {
        case (.castVote, .castVote(let counts)):
            try changeBase(counts.postID) { post in
                post.score = counts.score
                post.upvoteCount = counts.upvoteCount
                post.downvoteCount = counts.downvoteCount
                if counts.vote != .unspecified || post.viewer != nil {
                    var viewer = post.viewer ?? Viewer()
                    viewer.vote = counts.vote
                    post.viewer = viewer
                }
            }
        case (.createPost, .post(let post)):
            try adopt(post, for: entry.localPostID)
        case (.updatePost, .post(let post)):
            if let generation = try generation(of: post.feed) {
                try take(post, generation: generation)
            }
        case (.deletePost(let deletion), _): try remove(deletion.id)
        case (.markPosts(let marks), _): try keep(marks)
        default: break
        }
        try remove(entry)
    }

    private func finishGone(_ entry: OutboxEntry) throws(OfflineError) {
        for id in entry.request.shownPosts { try remove(id) }
        try remove(entry)
        guard entry.localPostID != 0 else { return }
        for row in try outboxRows("ORDER BY number")
        where row.request.namedPosts.contains(entry.localPostID) {
            try put(row, .failed(.postIsGone))
        }
    }

    /// Gives a post that was made here the id of the service, also in the entries that name it.
    private func adopt(_ post: Post, for localID: UInt64) throws(OfflineError) {
        let instance = try identity().instanceID
        // In any state: those that failed or are in doubt may be sent again later.
        for var row in try outboxRows("ORDER BY number")
        where row.request.namedPosts.contains(localID) {
            try removeTargets(of: row.entry)
            row.request = row.request.replacing(localID, by: post.id)
            row.instanceID = instance
            try write(row)
        }
        try database.run("INSERT INTO made_posts VALUES(?, ?)", [.id(localID), .id(post.id)])
        try database.run(
            """
            DELETE FROM made_posts WHERE local <= (
                SELECT local FROM made_posts ORDER BY local DESC LIMIT 1 OFFSET \(Self.maximumMadeCount))
            """
        )
        if let generation = try generation(of: post.feed) {
            try take(post, generation: generation)
        }
        change.replace(localID, by: post.id)
    }

    /// How many local ids the file still knows after their posts have got others.
    private static let maximumMadeCount = 1_000

    /// Keeps marks that the service has: they are no changes of their posts, so no sync brings them.
    private func keep(_ marks: MarkPostsRequest) throws(OfflineError) {
        let ids = try marks.throughPostID == 0 ? marks.postIDs : postsReached(by: marks)
        for id in ids {
            try changeBase(id) { post in
                var shown = ShownPost(post)
                shown.mark(marks.mark)
                post = shown.post
            }
        }
    }

    private func changeBase(_ id: UInt64, _ body: (inout Post) -> Void) throws(OfflineError) {
        guard var post = try base(id),
            let generation = try database.first(
                "SELECT generation FROM posts WHERE id = ?",
                [.id(id)],
                { $0.int64(0) }
            )
        else { return }
        body(&post)
        try take(post, generation: generation)
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

extension Status {
    fileprivate static var postIsGone: Status {
        Status(
            code: .notFound,
            reason: .postNotFound,
            message: "The post was created and has been deleted since."
        )
    }
}
