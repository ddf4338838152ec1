import FeedClient
import FeedProto
import FeedSQLite

/// The entries of the outbox, as programs make, see and decide on them.
extension OfflineStore {
    /// All entries, in the order in which they were made.
    func entries() throws(OfflineError) -> [OutboxEntry] {
        try outboxRows("ORDER BY number").map(\.entry)
    }

    /// An entry; nil where it is done or was dropped.
    func entry(_ number: UInt64) throws(OfflineError) -> OutboxEntry? {
        try outboxRow(number)?.entry
    }

    /// Adds a change of an account, which lists show from now on; the account 0 is the device.
    ///
    /// It may name posts by their local ids. The deletion of a post that no service has yet is done at once:
    /// the post's entries are forgotten. Throws `outboxFull`, or `unknownPost` for 0 and for a local id that
    /// there is not.
    func add(
        _ request: Request,
        as userID: UserID,
        limit: Int,
        at milliseconds: Int64
    ) throws(OfflineError) -> OutboxEntry {
        try database.transaction { () throws(OfflineError) in
            let request = try resolve(request)
            guard !request.namedPosts.contains(0) else { throw .unknownPost(0) }
            if let status = try rules(of: request, as: userID).refusal(of: request) {
                throw .refused(status)
            }
            let draft = try draft(deletedBy: request, as: userID)
            if draft == nil, try number("SELECT count(*) FROM outbox") >= Int64(limit) {
                throw .outboxFull(limit: limit)
            }
            // The number is above that of each entry, also where the stored one is damaged.
            let next = try self.number(
                "SELECT max(next_entry, (SELECT coalesce(max(number), 0) + 1 FROM outbox)) FROM identity"
            )
            let number = UInt64(bitPattern: next)
            try database.run("UPDATE identity SET next_entry = ?", [.int(next + 1)])
            let row = OutboxRow(
                number: number,
                request: request,
                instanceID: try instanceID(of: request),
                userID: userID
            )
            if let draft {
                try forget(draft)
                return row.entry
            }
            try write(row)
            if row.entry.localPostID != 0 {
                try takeLocal(row.entry, at: milliseconds)
            } else {
                try refreshPosts(of: [row.entry])
            }
            return row.entry
        }
    }

    /// What the service refuses of a change, as far as the file knows.
    private func rules(
        of request: Request,
        as userID: UserID
    ) throws(OfflineError) -> ChangeRules {
        ChangeRules(
            limits: try limits(),
            feed: try policy(of: feed(of: request) ?? ""),
            userID: userID
        )
    }

    /// The feed of the post that a change names first; nil if the copy has it not.
    private func feed(of request: Request) throws(OfflineError) -> String? {
        if case .createPost(let creation) = request { return creation.feed }
        let id = OfflineDatabase.Value.id(request.namedPosts.first ?? 0)
        return try database.first("SELECT feed FROM posts WHERE id = ?", [id]) { $0.text(0) } ?? nil
    }

    /// Makes the waiting entries of the device those of an account; returns how many.
    func adopt(by userID: UserID) throws(OfflineError) -> Int {
        guard userID != 0 else { return 0 }
        return try database.transaction { () throws(OfflineError) in
            let rows = try outboxRows("WHERE state = 1 AND user = 0")
            for var row in rows {
                row.userID = userID
                try write(row)
            }
            try refreshPosts(of: rows.map(\.entry))
            return rows.count
        }
    }

    /// The instance whose posts a change names: that of the chain which copies their feed.
    ///
    /// A program that names a post which the copy has not knows its id from elsewhere, lately as it seems:
    /// from the instance that was greeted last. 0 is none yet; the next greeting gives its own.
    private func instanceID(of request: Request) throws(OfflineError) -> UInt64 {
        let feed = try feed(of: request)
        let chain = try database.first(
            "SELECT instance FROM chains WHERE (feed = ? OR feed = '') AND instance <> 0",
            [.text(feed ?? "")]
        ) { $0.uint64(0) }
        if let chain { return chain }
        return try identity().instanceID
    }

    /// Forgets an entry, and with a post that it would have created all changes of that post.
    ///
    /// An entry that may have been executed can be dropped too: what it did stays done.
    func drop(_ number: UInt64) throws(OfflineError) {
        try database.transaction { () throws(OfflineError) in
            guard let entry = try entry(number) else { throw .unknownEntry(number) }
            try forget(entry)
        }
    }

    private func forget(_ entry: OutboxEntry) throws(OfflineError) {
        try remove(entry)
        guard entry.localPostID != 0 else { return }
        for row in try outboxRows(naming: entry.localPostID) {
            try remove(row.entry)
        }
    }

    /// The entry of a post that a change deletes and no service has; nil of any other change.
    ///
    /// A post that was sent may be there, and is one of its account alone.
    private func draft(
        deletedBy request: Request,
        as userID: UserID
    ) throws(OfflineError) -> OutboxEntry? {
        guard case .deletePost(let deletion) = request, LocalPostID.isLocal(deletion.id),
            let entry = try entry(LocalPostID.entry(deletion.id)), entry.userID == userID
        else { return nil }
        switch entry.state {
        case .waiting, .failed: return entry
        case .sent, .inDoubt: return nil
        }
    }

    /// Lets an entry that failed, is in doubt or waits for another account be sent as a new change of an
    /// account; `unknownPost` where its post was made here and is gone.
    func resend(_ number: UInt64, as userID: UserID) throws(OfflineError) {
        try database.transaction { () throws(OfflineError) in
            guard var row = try outboxRow(number) else { throw .unknownEntry(number) }
            switch row.state {
            case .failed, .inDoubt: break
            case .waiting where row.userID != userID: break
            case .waiting, .sent: throw .unknownEntry(number)
            }
            var request = try resolve(row.request)
            if case .updatePost(var update) = request, let id = update.post?.id,
                update.post?.revision ?? 0 > 0, let base = try base(id)
            {
                update.post?.revision = base.revision
                request = .updatePost(update)
            }
            try removeTargets(of: row.entry)
            row.request = request
            row.state = .waiting
            row.sequence = 0
            row.userID = userID
            // The program has looked at it: its posts are those that the copy shows now, at their revisions.
            row.instanceID = try instanceID(of: request)
            try write(row)
            try refreshPosts(of: [row.entry])
        }
    }

    func outboxRows(
        _ condition: String,
        _ values: [OfflineDatabase.Value] = []
    ) throws(OfflineError) -> [OutboxRow] {
        let sql = "SELECT \(OutboxRow.columns) FROM outbox \(condition)"
        return try database.all(sql, values) { row throws(OfflineError) in
            try OutboxRow(row, &blobs)
        }
    }

    /// The rows of all entries that name a post, in their order.
    private func outboxRows(naming id: PostID) throws(OfflineError) -> [OutboxRow] {
        try outboxRows("ORDER BY number").filter { $0.request.namedPosts.contains(id) }
    }

    private func outboxRow(_ number: UInt64) throws(OfflineError) -> OutboxRow? {
        try outboxRows("WHERE number = ?", [.number(number)]).first
    }

    /// Writes an entry in place of what the file had of it; a part of a transaction.
    func write(_ row: OutboxRow) throws(OfflineError) {
        try database.run(
            "INSERT OR REPLACE INTO outbox(\(OutboxRow.columns)) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row.values()
        )
        for post in Set(row.request.shownPosts) {
            try database.run(
                "INSERT OR IGNORE INTO targets VALUES(?, ?)",
                [.id(post), .number(row.number)]
            )
        }
        change.hasOutboxChanged = true
    }

    /// Removes an entry, and shows its posts without it; a part of a transaction.
    func remove(_ entry: OutboxEntry) throws(OfflineError) {
        try database.run("DELETE FROM outbox WHERE number = ?", [.number(entry.number)])
        try removeTargets(of: entry)
        change.hasOutboxChanged = true
        try refreshPosts(of: [entry])
    }

    /// Lets no post show an entry, which is then removed or written anew; a part of a transaction.
    private func removeTargets(of entry: OutboxEntry) throws(OfflineError) {
        for post in Set(entry.request.shownPosts) {
            try database.run(
                "DELETE FROM targets WHERE post = ? AND number = ?",
                [.id(post), .number(entry.number)]
            )
        }
    }

    /// The id of the service for the local id of a post that it has; else the id itself.
    func currentID(_ id: PostID) throws(OfflineError) -> PostID {
        try database.first("SELECT post FROM made_posts WHERE local = ?", [.id(id)]) {
            $0.id(0)
        } ?? id
    }

    /// The change with the service's ids of the posts that were made here, where they have them.
    private func resolve(_ request: Request) throws(OfflineError) -> Request {
        var resolved = request
        for local in request.namedPosts where LocalPostID.isLocal(local) {
            let id = try currentID(local)
            if id != local {
                resolved = resolved.replacing(local, by: id)
            } else if try entry(LocalPostID.entry(local))?.localPostID != local {
                throw .unknownPost(local)
            }
        }
        return resolved
    }
}

/// Which entries of the outbox lists show: those of one account that wait or may have left.
extension OfflineStore {
    /// The account whose entries lists show; 0 is the device.
    private func shownUserID() throws(OfflineError) -> UserID {
        UserID(rawValue: UInt64(bitPattern: try number("SELECT shown_user FROM identity")))
    }

    /// Lets lists show the entries of an account, and no longer those of another one.
    ///
    /// It takes O(entries of both) where the account is another one, and O(posts) for each mark through
    /// a post among them.
    func show(as userID: UserID) throws(OfflineError) {
        let before = try shownUserID()
        guard userID != before else { return }
        try database.transaction { () throws(OfflineError) in
            try database.run("UPDATE identity SET shown_user = ?", [.id(userID)])
            let rows = try outboxRows(
                "WHERE state <= ? AND user IN (?, ?)",
                [.int(OutboxRow.lastPendingState), .id(before), .id(userID)]
            )
            try refreshPosts(of: rows.map(\.entry))
        }
    }

    /// Whether lists show an entry.
    func isShown(_ entry: OutboxEntry) throws(OfflineError) -> Bool {
        guard entry.state.isPending else { return false }
        return try shownUserID() == entry.userID
    }

    /// Shows the posts of entries anew, each once; a part of a transaction.
    func refreshPosts(of entries: [OutboxEntry]) throws(OfflineError) {
        var ids: Set<PostID> = []
        for entry in entries { ids.formUnion(try posts(of: entry)) }
        for id in ids { try refresh(id) }
    }

    /// The posts of the copy that an entry changes; O(posts) for a mark through a post.
    private func posts(of entry: OutboxEntry) throws(OfflineError) -> [PostID] {
        if entry.localPostID != 0 { return [entry.localPostID] }
        guard case .markPosts(let marks) = entry.request, marks.throughPostID != 0 else {
            return entry.request.shownPosts
        }
        return try postsReached(by: marks)
    }

    private func postsReached(by marks: MarkPostsRequest) throws(OfflineError) -> [PostID] {
        guard let last = try created(marks.throughPostID) else { return [] }
        let sql = """
            SELECT id FROM posts
            WHERE (created, id) <= (?, ?) AND (? = '' OR feed = ?) AND base IS NOT NULL
            """
        let feed = OfflineDatabase.Value.text(marks.feed)
        return try database.all(sql, [.int(last), .id(marks.throughPostID), feed, feed]) {
            $0.id(0)
        }
    }
}

/// The outbox on its way to the service.
extension OfflineStore {
    /// The most entries that leave together, far below the 256 sequences that a service remembers.
    private static let maximumBatchCount = 32

    /// Notes that a Hello is about to be sent: it may make the channel, and its answer may be lost.
    ///
    /// The identity says whether the answer to an earlier one may have been lost.
    func beginGreeting() throws(OfflineError) -> OutboxIdentity {
        try database.transaction { () throws(OfflineError) in
            let identity = try identity()
            try database.run("UPDATE identity SET is_greeting = 1")
            return identity
        }
    }

    /// Compares what the service remembers with the file, and lets the entries that may have been executed
    /// come into doubt where the service cannot tell.
    func greeted(by hello: HelloResponse, hasLostHello: Bool) throws(OfflineError) {
        try database.transaction { () throws(OfflineError) in
            let identity = try identity()
            var doubt: OutboxDoubt?
            if identity.instanceID != 0, identity.instanceID != hello.instanceID {
                doubt = .stateReplaced
            } else if !hello.knowsChannel(hasLostHello: hasLostHello) {
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
            try keep(.hello(hello), of: "")
            try database.run(
                "UPDATE identity SET instance = ?, is_greeting = 0, next_sequence = ?, viewer = ?",
                [.number(hello.instanceID), .number(next), .id(viewerID)]
            )
        }
    }

    /// The next entries of an account to send, each with its sequence, which the file has before they
    /// leave.
    ///
    /// Entries that may have left before come first. Votes and marks of different posts leave together;
    /// any other change leaves alone, so that the service executes them in their order.
    func numberNext(of userID: UserID) throws(OfflineError) -> [NumberedEntry] {
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
            try database.run("UPDATE identity SET next_sequence = ?", [.number(sequence)])
            return numbered
        }
    }

    /// Takes what the service said to entries.
    func settle(_ outcomes: [(number: UInt64, outcome: OutboxOutcome)]) throws(OfflineError) {
        try database.transaction { () throws(OfflineError) in
            for (number, outcome) in outcomes {
                // The program may have dropped it meanwhile.
                guard let row = try outboxRow(number) else { continue }
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

    private func nextRows(of userID: UserID) throws(OfflineError) -> [OutboxRow] {
        var next: [OutboxRow] = []
        var posts: Set<PostID> = []
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

/// What an executed entry leaves in the copy. These functions are parts of transactions.
extension OfflineStore {
    func finish(_ entry: OutboxEntry, _ answer: Answer) throws(OfflineError) {
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
        case (.updatePost(let update), .post(let post)):
            try chain(update, of: entry.userID, to: post)
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
        for row in try outboxRows(naming: entry.localPostID) {
            try put(row, .failed(.postIsGone))
        }
    }

    /// Lets the waiting edits that stand on an executed one stand on the post that it has left.
    ///
    /// Who edits a post twice without a network sees the first edit when making the second, but names the
    /// revision of the copy in both: 40 and 40, of which the second becomes 51 where the first has made 51.
    /// An answer that shows more than the edit has somebody else's in it, as that of a repeat may. Then the
    /// second edit stays at 40, and is refused.
    private func chain(
        _ update: UpdatePostRequest,
        of userID: UserID,
        to post: Post
    ) throws(OfflineError) {
        let base = try base(post.id)
        var expected = ShownPost(base ?? post)
        expected.apply(.updatePost(update), mode: .unspecified)
        guard expected.post.hasFields(of: post) else { return }
        let named = update.post?.revision ?? 0
        let oldest = named > 0 ? named : base?.revision ?? .max
        let rows = try outboxRows(
            """
            WHERE state = 1 AND user = ? AND number IN (SELECT number FROM targets WHERE post = ?)
            """,
            [.id(userID), .id(post.id)]
        )
        for var row in rows {
            guard case .updatePost(var next) = row.request, let revision = next.post?.revision,
                revision > 0, revision >= oldest
            else { continue }
            next.post?.revision = post.revision
            row.request = .updatePost(next)
            try write(row)
        }
    }

    /// Gives a post that was made here the id of the service, also in the entries that name it.
    private func adopt(_ post: Post, for localID: PostID) throws(OfflineError) {
        let instance = try identity().instanceID
        // In any state: those that failed or are in doubt may be sent again later.
        for var row in try outboxRows(naming: localID) {
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

    /// Changes numbers or the viewer of what the service has said last of a post of the copy.
    func changeBase(_ id: PostID, _ body: (inout Post) -> Void) throws(OfflineError) {
        let sql = "SELECT generation FROM posts WHERE id = ?"
        guard let before = try base(id), let generation = try database.number(sql, [.id(id)])
        else { return }
        var post = before
        body(&post)
        if post != before { try take(post, generation: generation) }
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

extension Post {
    /// Whether two posts have equal fields of those that an edit may change.
    fileprivate func hasFields(of post: Post) -> Bool {
        title == post.title && text == post.text && linkURL == post.linkURL
            && thumbnailURL == post.thumbnailURL && imageURL == post.imageURL
            && commentCount == post.commentCount
    }
}
