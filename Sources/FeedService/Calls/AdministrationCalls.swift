internal import FeedAccounts
internal import FeedCalls
internal import FeedConcurrency
internal import FeedJournal
internal import FeedLog
internal import FeedProto
internal import FeedRanking
internal import FeedState
internal import Logging

/// The calls of services and operators: feeds, statistics, imports, backups and corrected times.
struct AdministrationCalls {
    let environment: CallEnvironment
    /// The texts of imports that may still be walked in this loop iteration.
    var textWalk: TextWalk

    init(_ environment: CallEnvironment) {
        self.environment = environment
        textWalk = TextWalk(byteLimit: environment.context.limits.walkedTextByteCount)
    }

    /// Creates a feed for a service; its policy never changes again.
    func createFeed(_ request: CreateFeedRequest) throws(Status) -> Answer {
        let policy = try environment.rules.policy(of: request)
        _ = try ranked { () throws(RankingError) in
            try environment.store.createFeed(policy, sink: environment.changeLog)
        }
        return .response(.feed(Feed(policy, postCount: 0)), revision: environment.store.revision)
    }

    /// The answer to a repeated creation of a feed, with the state of now.
    func feedNow(named name: String) throws(Status) -> Answer {
        let revision = environment.store.revision
        guard let feed = environment.store.feeds().first(where: { $0.policy.name == name }) else {
            throw .executedOnWhatIsGone(.feedNotFound(name))
        }
        return .response(.feed(Feed(feed.policy, postCount: feed.postCount)), revision: revision)
    }

    /// Lets an operator stop the service; the answer leaves before GoAway.
    func drain() -> Answer {
        environment.context.askToDrain()
        return .response(.empty, revision: environment.store.revision)
    }

    func setLogLevel(_ request: SetLogLevelRequest) throws(Status) -> Answer {
        guard let level = Logger.Level(rawValue: request.level) else {
            throw .invalid(
                .badField,
                field: "level",
                "level is \"\(request.level.prefix(32))\", which is none of the levels: expected "
                    + "\(ServiceConfiguration.logLevels)."
            )
        }
        environment.log.setLevel(level, of: environment.context.logThreshold)
        return .response(.empty, revision: environment.store.revision)
    }

    /// The counts over all loops, as they are now.
    ///
    /// Whose watches they are, the disk and the backups are for callers with a key, and local ones: errors
    /// of backups have paths, and a stranger need not know when the disk is full.
    func serverStats(for role: Role) -> Answer {
        let (context, store) = (environment.context, environment.store)
        let revision = store.revision
        let numbers = ServiceNumbers(context, store)
        let stats = ServerStats(numbers, at: revision, isTrusted: role.isTrusted)
        return .response(.serverStats(stats), revision: revision)
    }

    /// Lets an operator have the state backed up.
    func admitBackup() throws(Status) {
        guard let state = environment.context.state else { throw .notDurable }
        guard state.journal.isWritable else {
            throw .readOnly(
                freeByteCount: state.journal.freeByteCount,
                writableByteCount: state.journal.writableByteCount
            )
        }
    }
}

extension Status {
    init(_ error: BackupError) {
        switch error {
        case .running: self.init(.backupRunning, "\(error)", retryMilliseconds: 5000)
        case .noRoom: self.init(.backupNoRoom, "\(error)")
        case .roomShrank, .logTooLong: self.init(.backupCancelled, "\(error)")
        case .stopping: self.init(.draining, "\(error)")
        case .failed, .damagedCopy: self.init(.internal, "\(error)")
        }
    }
}

/// DeletePosts: services and operators delete what one user, device or host has made.
extension AdministrationCalls {
    /// Finds posts by those who made them, some in each call, and deletes them on request.
    func deletePosts(_ request: DeletePostsRequest) throws(Status) -> Answer {
        let wanted = try WantedPosts(request)
        guard request.deletesPosts else { return find(wanted, request) }
        guard wanted.namesSomebody else { throw .deletionOfAllPosts }
        return try environment.changeLog.transaction { () throws(Status) -> Answer in
            try environment.admitChange()
            return find(wanted, request)
        }
    }

    /// Looks at some ids behind that of the request, and deletes the wanted posts if it asks for that.
    private func find(_ wanted: WantedPosts, _ request: DeletePostsRequest) -> Answer {
        let limits = environment.context.limits
        let last = environment.store.highestID
        let limit = limits.maximumDeletedPostCount
        let count = request.limit == 0 ? limit : min(Int(request.limit), limit)
        var posts: [FeedProto.PostOrigin] = []
        var revision: UInt64 = 0
        var titleByteCount = 0
        var number = min(request.afterID.rawValue, last)
        let end = number + min(last - number, UInt64(limits.correctedIDCount))
        while number < end, posts.count < count, titleByteCount < limits.correctedTextByteCount {
            number += 1
            let id = PostID(rawValue: number)
            guard let post = self.post(id, wanted) else { continue }
            titleByteCount += post.title.utf8.count
            posts.append(post)
            guard request.deletesPosts else { continue }
            let outcome = try? environment.store.deletePost(id, sink: environment.changeLog)
            revision = max(revision, outcome?.revision ?? 0)
        }
        let response = DeletePostsResponse(
            posts: posts,
            nextAfterID: PostID(rawValue: number < last ? number : 0),
            originsSinceTimeMilliseconds: environment.context.origins.knownSince
        )
        return .response(
            .deletePosts(response),
            revision: max(environment.store.revision, revision)
        )
    }

    /// A post with its origin; nil where it is not wanted, or is gone.
    private func post(_ id: PostID, _ wanted: WantedPosts) -> FeedProto.PostOrigin? {
        var origin: PostOrigins.Origin?
        if wanted.asksForOrigin {
            origin = environment.context.origins[id]
            guard wanted.takes(origin) else { return nil }
        }
        let creation = environment.store.creation(of: id) { author, time in
            time >= wanted.since && (wanted.author == 0 || wanted.author == author)
        }
        guard let creation else { return nil }
        origin = origin ?? environment.context.origins[id]
        return FeedProto.PostOrigin(
            id: id,
            feed: environment.store.policy(of: creation.feed)?.name ?? "",
            title: creation.title,
            createTimeMilliseconds: creation.createTimeMilliseconds,
            authorID: UserID(rawValue: creation.authorID),
            clientID: origin?.device?.clientID ?? [],
            host: origin?.host.hostText ?? ""
        )
    }
}

/// The posts that a DeletePosts is about.
private struct WantedPosts {
    let author: UInt64
    let device: Device16?
    let host: ClientIdentity?
    let since: Int64

    init(_ request: DeletePostsRequest) throws(Status) {
        author = request.authorID.rawValue
        since = request.sinceTimeMilliseconds
        device = try Device16(ifNamed: request.clientID)
        let text = request.host
        guard !text.isEmpty else {
            host = nil
            return
        }
        guard let found = ClientIdentity(host: text) else { throw .badHost(text) }
        host = found
    }

    var namesSomebody: Bool { author != 0 || asksForOrigin }

    /// Whether it depends on the device or the host.
    var asksForOrigin: Bool { device != nil || host != nil }

    /// Whether the posts of an origin are wanted.
    func takes(_ origin: PostOrigins.Origin?) -> Bool {
        guard let origin else { return false }
        return (device ?? origin.device) == origin.device && (host ?? origin.host) == origin.host
    }
}

/// ImportPosts: posts from another system, all or none, and only from a service.
extension AdministrationCalls {
    /// Checks every post, then makes them all; their ids are consecutive, in their order.
    func importPosts(
        _ request: ImportPostsRequest,
        _ answers: inout Answers
    ) throws(Status) -> (Answer, FeedLog.Outcome) {
        let (feed, posts) = try environment.rules.importedPosts(
            of: request,
            checkedTextCount: textWalk.checkedPostCount,
            at: environment.context.clock.now()
        )
        let outcome = try insert(posts, in: feed)
        for post in outcome.refreshDue { answers.refreshLater(stripeOf: post) }
        let first = outcome.firstID.rawValue
        return (answer(toImportOf: posts.count, from: first, outcome.revision), .id(first))
    }

    /// The answer to an import, which has the ids of its posts.
    func answer(toImportOf count: Int, from firstID: UInt64, _ revision: UInt64) -> Answer {
        let ids = (firstID..<firstID + UInt64(count)).map(PostID.init(rawValue:))
        return .response(.importPosts(ImportPostsResponse(ids: ids)), revision: revision)
    }

    /// Makes posts that were checked; refuses them if their log entries might overflow a record.
    private func insert(
        _ posts: [ImportedPost],
        in feed: FeedID
    ) throws(Status) -> ImportOutcome {
        let byteCount = posts.reduce(0) { $0 + $1.content.maximumLogEntryByteCount }
        guard environment.context.longTransactionRoom.reserve(byteCount) else {
            throw .journalBehind(isOfCluster: environment.context.node != nil)
        }
        defer {
            environment.changeLog.countWaitingBytes()
            environment.context.longTransactionRoom.release(byteCount)
        }
        try environment.requireRoom(
            for: posts.reduce(0) {
                $0 + $1.content.textByteCount + RankingLimits.postOverheadByteCount
            }
        )
        // Other imports may have been logged since the transaction began.
        try environment.admitChange()
        return try ranked { () throws(RankingError) in
            try environment.store.importPosts(posts, in: feed, sink: environment.changeLog)
        }
    }

    /// Checks the texts of an import before its execution, as many as one loop iteration allows;
    /// false where some are left for a later iteration.
    ///
    /// The execution checks a text again that breaks a rule, and refuses it.
    mutating func checkTexts(of request: ImportPostsRequest) -> Bool {
        // The execution refuses these imports without a walk.
        let rules = environment.rules
        guard environment.context.changeRefusal == nil,
            request.posts.count <= rules.limits.maximumImportPostCount,
            let feed = environment.store.feed(named: rules.nameOfFeed(ofNewPosts: request.feed))
        else { return true }
        let policy = rules.policy(of: feed)
        while textWalk.checkedPostCount < request.posts.count {
            guard textWalk.hasRoom else { return false }
            let index = textWalk.checkedPostCount
            let post = request.posts[index]
            do throws(Status) {
                try rules.texts.check(post, at: .item(index), against: policy)
            } catch {
                return true
            }
            textWalk.checked(
                walkedByteCount: rules.texts.walkedByteCount(post, against: policy)
            )
        }
        return true
    }
}

/// CorrectTimes: operators correct the posts that a wrong clock has stamped.
extension AdministrationCalls {
    /// Finds posts that lie ahead of the clock, some in each call, and corrects them on request.
    func correctTimes(
        _ request: CorrectTimesRequest,
        _ answers: inout Answers
    ) throws(Status) -> Answer {
        let now = environment.context.clock.now()
        let jump = environment.context.clock.jumpMilliseconds
        guard jump == 0 else { throw .clockJumped(by: jump) }
        let latest =
            now + environment.context.limits.calls.maximumImportedTimeLead.millisecondsRoundedDown
        let time = request.timeMilliseconds == 0 ? now : request.timeMilliseconds
        guard (0...latest).contains(time) else { throw .badCorrection(time, latest: latest) }
        guard request.appliesCorrection else {
            return answer(postsAhead(of: latest, request, correctingTo: nil), at: now)
        }
        return try environment.changeLog.transaction { () throws(Status) -> Answer in
            // As for an import: the entries that all loops log after their admission fit into a record.
            let byteCount = environment.context.limits.longestCorrectionByteCount
            guard environment.context.longTransactionRoom.reserve(byteCount) else {
                throw .journalBehind(isOfCluster: environment.context.node != nil)
            }
            defer {
                environment.changeLog.countWaitingBytes()
                environment.context.longTransactionRoom.release(byteCount)
            }
            try environment.admitChange()
            let found = postsAhead(of: latest, request, correctingTo: time)
            for post in found.refreshDue { answers.refreshLater(stripeOf: post) }
            return answer(found, at: now)
        }
    }

    private func postsAhead(
        of latest: Int64,
        _ request: CorrectTimesRequest,
        correctingTo time: Int64?
    ) -> PostsAhead {
        let limit = environment.context.limits.maximumCorrectedPostCount
        return environment.store.postsAhead(
            of: latest,
            behind: request.afterID,
            idCount: UInt64(environment.context.limits.correctedIDCount),
            postCount: request.limit == 0 ? limit : min(Int(request.limit), limit),
            textByteCount: environment.context.limits.correctedTextByteCount,
            correctingTo: time,
            sink: environment.changeLog
        )
    }

    private func answer(_ found: PostsAhead, at now: Int64) -> Answer {
        let posts = found.posts.map { post in
            PostTimes(
                id: post.id,
                feed: environment.store.policy(of: post.feed)?.name ?? "",
                title: post.title,
                createTimeMilliseconds: post.createTimeMilliseconds,
                updateTimeMilliseconds: post.updateTimeMilliseconds
            )
        }
        let response = CorrectTimesResponse(
            posts: posts,
            nextAfterID: found.next ?? 0,
            serverTimeMilliseconds: now
        )
        return .response(
            .correctTimes(response),
            revision: max(environment.store.revision, found.revision)
        )
    }
}

extension Status {
    /// The new time of the posts is below 0, or lies ahead itself.
    fileprivate static func badCorrection(_ time: Int64, latest: Int64) -> Status {
        .invalid(
            .badTime,
            field: "time_ms",
            "time_ms is \(time); a time is 0 to \(latest).",
            limit: UInt64(bitPattern: latest),
            actual: UInt64(bitPattern: time)
        )
    }
}
