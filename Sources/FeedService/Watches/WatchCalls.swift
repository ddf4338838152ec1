internal import FeedCalls
internal import FeedConcurrency
internal import FeedProto
internal import FeedRanking

/// Checks WatchPosts and Cancel, and has the lists that the connections of a loop watch.
struct WatchCalls: ~Copyable {
    let environment: CallEnvironment
    /// What the requests of this loop iteration ask for.
    var actions: [WatchAction] = []
    private(set) var count = 0
    private var lists: [WatchedListID: WatchedList] = [:]

    init(_ environment: CallEnvironment) {
        self.environment = environment
    }

    mutating func watch(
        _ request: WatchPostsRequest,
        _ envelope: Envelope,
        from caller: borrowing Caller
    ) throws(Status) {
        try environment.checkReached(request.sinceRevision)
        let current = environment.store.revision
        // A revision that is still to come was another state's.
        let since = request.sinceRevision <= current ? request.sinceRevision : 0
        let subject = try subject(of: request, for: caller.voterKey, since: since)
        let milliseconds = request.minimumIntervalMilliseconds
        let limits = environment.context.limits
        let watch = Watch(
            id: envelope.id,
            subject: subject,
            interval: milliseconds == 0
                ? limits.defaultWatchInterval
                : min(
                    max(.milliseconds(milliseconds), limits.minimumWatchInterval),
                    limits.maximumWatchInterval
                ),
            owner: Watch.Owner(caller),
            peer: caller.peer,
            mayHaveAll: caller.isService || !caller.isLimited,
            viewer: WatchViewer(caller.voterKey),
            leastRevision: max(envelope.minimumRevision, caller.lastChange, since),
            known: since == 0 ? .nothing : .upTo(since),
            due: MonotonicInstant(nanoseconds: 0)
        )
        actions.append(.begin(watch))
    }

    /// Counts a watch that begins, unless the service or the watch's host has too many.
    mutating func begin(_ watch: Watch) throws(WatchAdmission.Refusal) {
        do throws(WatchAdmission.Refusal) {
            let admission = environment.context.watchAdmission
            try admission.admit(watch.peer, mayHaveAll: watch.mayHaveAll)
        } catch {
            drop(watch)
            throw error
        }
        count += 1
        if case .list(let list, let topCount) = watch.subject {
            if lists[list.id] == nil { lists[list.id] = list }
            list.watchCount += 1
            list.topCount = max(list.topCount, topCount)
        }
    }

    mutating func end(_ watch: Watch) {
        environment.context.watchAdmission.release(watch.peer)
        count -= 1
        if case .list(let list, _) = watch.subject { list.watchCount -= 1 }
        drop(watch)
    }

    mutating func drop(_ watch: Watch) {
        guard case .list(let list, _) = watch.subject, list.watchCount == 0,
            lists[list.id] === list
        else { return }
        lists[list.id] = nil
    }

    private mutating func subject(
        of request: WatchPostsRequest,
        for viewer: VoterKey?,
        since revision: UInt64
    ) throws(Status) -> Watch.Subject {
        switch try environment.rules.subject(of: request, for: viewer) {
        case .posts(let ids): .posts(WatchedPosts(ids, knownUpTo: revision))
        case .list(let id, let topCount): .list(list(id), topCount: topCount)
        }
    }

    private mutating func list(_ id: WatchedListID) -> WatchedList {
        if let list = lists[id] { return list }
        let keepsBallots = id.list.feed.map {
            environment.rules.policy(of: $0).voteMode.keepsBallots
        }
        // The front page has posts of all feeds.
        let list = WatchedList(id, keepsBallots: keepsBallots ?? true)
        lists[id] = list
        return list
    }
}

extension Watch.Owner {
    /// Whose rights a watch of this caller depends on.
    fileprivate init(_ caller: borrowing Caller) {
        if caller.actingUserID != 0 {
            self = .service(caller.actingUserID)
        } else {
            self = caller.userID.map { .user($0) } ?? .everyone
        }
    }
}

/// What a WatchPosts or a Cancel asks of the connection's loop, after the answers of the loop iteration.
enum WatchAction {
    case begin(Watch)
    case cancel(UInt64)
}
