import FeedClient
import FeedConcurrency
import FeedProto

/// How a sync goes: a connection of its own, the outbox, then the copies.
extension OfflineFeed {
    func run() async throws(OfflineError) -> SyncReport {
        var report = SyncReport()
        var attempt = 1
        let renewal = renewalCount
        let backoff = Backoff(configuration.client.retry)
        var generator = SystemRandomNumberGenerator()
        while true {
            do throws(OfflineError) {
                try await run(&report, in: renewal)
                return report
            } catch {
                guard attempt < error.attemptLimit(after: attempt) else { throw error }
                await wait(backoff.delay(round: attempt, using: &generator))
                attempt += 1
            }
        }
    }

    private func run(
        _ report: inout SyncReport,
        in renewal: Int
    ) async throws(OfflineError) {
        let client = try await connect(renewal)
        do throws(OfflineError) {
            // The modes of votes, before a vote of a BALLOT feed is shown.
            _ = try await readFeeds(client, in: renewal)
            try await flush(client, &report, in: renewal)
            for feed in configuration.copiedFeeds {
                try await copy(feed, client, &report, in: renewal)
            }
        } catch {
            await client.close()
            throw error
        }
        await client.close()
    }

    /// Connects as the file's device on the file's channel.
    ///
    /// The client has one connection, so that each Hello is noted in the file.
    private func connect(_ renewal: Int) async throws(OfflineError) -> any FeedCalling {
        let identity = try perform(in: renewal) { store throws(OfflineError) in
            try store.beginGreeting()
        }
        var configuration = configuration.client
        configuration.clientID = identity.clientID
        configuration.channel = identity.channel
        configuration.connectionCount = 1
        configuration.waitsForService = false
        configuration.reconnects = false
        // Only the leader of a cluster knows what became of the file's changes.
        configuration.reads = .leader
        let client: any FeedCalling
        do {
            client = try await connect(configuration)
        } catch {
            throw .service(error)
        }
        do throws(OfflineError) {
            // A client may connect with its first call.
            if client.service == nil {
                _ = try await Self.calling { () throws(FeedClientError) in try await client.ping() }
            }
            var hello =
                client.service
                ?? HelloResponse(
                    serverName: "",
                    instanceID: 0,
                    serverTimeMilliseconds: 0,
                    limits: nil
                )
            if client is any NumberedCalling {
                guard hello.takesSequences else { throw .noSequences }
            } else {
                // Its channel, if it has one, is not the file's.
                hello.isClientKnown = false
                hello.lastSequence = 0
            }
            let greeting = hello
            try perform(in: renewal) { store throws(OfflineError) in
                // One connection may ask several services, and lose the answer of the first.
                let mayHaveLostOne = self.configuration.addresses.count > 1
                try store.greeted(
                    by: greeting,
                    hasLostHello: identity.isGreeting || mayHaveLostOne
                )
            }
        } catch {
            await client.close()
            throw error
        }
        return client
    }

    /// Sends the entries of the one who is connected, until none is left that can be sent.
    private func flush(
        _ client: any FeedCalling,
        _ report: inout SyncReport,
        in renewal: Int
    ) async throws(OfflineError) {
        // Not what the session store says: the session may have ended, or another one begun.
        let userID = client.service?.user?.id ?? 0
        var stop: FeedClientError?
        while stop == nil {
            guard !Task.isCancelled else { throw .service(.cancelled(effect: .none)) }
            let next = try performOnOutbox(in: renewal) { file throws(OfflineError) in
                try file.numberNext(of: userID)
            }
            guard !next.isEmpty else { break }
            let results = await make(next.map(\.change), over: client)
            var outcomes: [(number: UInt64, outcome: OutboxOutcome)] = []
            for (entry, result) in zip(next, results) {
                let isNumbered = client is any NumberedCalling
                let step = FlushStep(result, of: entry.change, isNumbered: isNumbered)
                stop = stop ?? step.stop
                guard let outcome = step.outcome else { continue }
                outcomes.append((entry.number, outcome))
                report.count(outcome)
            }
            let settled = outcomes
            try performOnOutbox(in: renewal) { file throws(OfflineError) in
                try file.settle(settled)
            }
        }
        let entries = try outbox()
        report.inDoubtCount = entries.count { if case .inDoubt = $0.state { true } else { false } }
        let left = entries.filter { $0.state == .waiting || $0.state == .sent }
        report.leftCount = left.count
        report.otherUserCount = left.count { $0.userID != userID }
        // A refusal for now, as of a full disk, does not prevent reading.
        if let stop, !stop.isRefusal { throw .service(stop) }
    }

    /// Makes changes in their order; without sequences one after another, up to a failure.
    private func make(
        _ changes: [NumberedChange],
        over client: any FeedCalling
    ) async -> [Result<Answer, FeedClientError>] {
        if let client = client as? any NumberedCalling {
            return await client.make(changes, timeout: nil)
        }
        var results: [Result<Answer, FeedClientError>] = []
        for change in changes {
            if case .failure(let error) = results.last, !error.isRefusal {
                results.append(.failure(.closed))
                continue
            }
            do throws(FeedClientError) {
                results.append(.success(try await client.call(change.request)))
            } catch {
                results.append(.failure(error))
            }
        }
        return results
    }

    /// Reads and keeps the service's feeds; returns the revision of the answer.
    private func readFeeds(
        _ client: any FeedCalling,
        in renewal: Int
    ) async throws(OfflineError) -> UInt64 {
        let answer = try await Self.calling { () throws(FeedClientError) in
            try await client.call(.listFeeds)
        }
        guard case .listFeeds(let feeds) = answer.response else {
            throw .violation("The answer to a call for feeds is another one.")
        }
        try perform(in: renewal) { store throws(OfflineError) in try store.keep(feeds.feeds) }
        return answer.revision
    }
}

/// How a copy follows the service: by the chain of its feed, which a bounded copy begins with lists.
extension OfflineFeed {
    /// Follows the chain of a feed to its end.
    private func copy(
        _ feed: String,
        _ client: any FeedCalling,
        _ report: inout SyncReport,
        in renewal: Int
    ) async throws(OfflineError) {
        var progress = SyncProgress(keeps: configuration.keeps)
        var needsLists = try perform(in: renewal) { store throws(OfflineError) in
            try store.needsLists(feed)
        }
        while true {
            if needsLists {
                try progress.beginLists()
                // Without a change the service has no posts, and no revision from which a chain goes on.
                guard try await readLists(feed, client, &report, in: renewal) else { return }
            }
            let request = try perform(in: renewal) { store throws(OfflineError) in
                try store.nextRequest(feed)
            }
            let answer = try await Self.calling { () throws(FeedClientError) in
                try await client.syncPosts(request)
            }
            try progress.check(answer, to: request)
            needsLists = progress.needsLists(after: answer)
            if needsLists { continue }
            try perform(in: renewal) { store throws(OfflineError) in
                try store.take(answer, feed: feed, &report)
                if !answer.hasMore { try store.dropUnkept(feed, &report) }
            }
            guard !answer.hasMore else { continue }
            needsLists = try perform(in: renewal) { store throws(OfflineError) in
                guard progress.mayBeginLists else { return false }
                return try store.needsLists(feed)
            }
            guard needsLists else { return }
        }
    }

    /// Begins the chain of a bounded copy with its lists; false if the service is at no revision.
    ///
    /// The first page of each list comes before the others, so that each has its first rows soon.
    private func readLists(
        _ chain: String,
        _ client: any FeedCalling,
        _ report: inout SyncReport,
        in renewal: Int
    ) async throws(OfflineError) -> Bool {
        // Each list shows all changes up to this revision, and the chain brings the later ones.
        let revision = try await readFeeds(client, in: renewal)
        var lists = try perform(in: renewal) { store throws(OfflineError) in
            try store.lists(of: chain)
        }
        // The copy of another state is shown until this one has answered.
        let firstRows = lists.isEmpty ? [] : try await readPage(of: &lists[0], client)
        let instanceID = client.service?.instanceID ?? 0
        try perform(in: renewal) { store throws(OfflineError) in
            try store.beginLists(chain, of: instanceID, &report)
        }
        try take(firstRows, of: chain, &report, in: renewal)
        for place in lists.indices.dropFirst() {
            let posts = try await readPage(of: &lists[place], client)
            try take(posts, of: chain, &report, in: renewal)
        }
        for place in lists.indices {
            while lists[place].missingCount > 0 {
                let posts = try await readPage(of: &lists[place], client)
                try take(posts, of: chain, &report, in: renewal)
            }
        }
        try await readNamedPosts(chain, client, &report, in: renewal)
        try perform(in: renewal) { store throws(OfflineError) in
            try store.endLists(chain, lists, at: revision, &report)
        }
        return revision > 0
    }

    /// The next posts of a list.
    private func readPage(
        of list: inout KeptList,
        _ client: any FeedCalling
    ) async throws(OfflineError) -> [Post] {
        let (size, start) = (list.missingCount, list.start)
        guard size > 0 else { return [] }
        let kept = PostList(feed: list.feed, order: list.order, includesDismissed: true)
        let page = try await Self.calling { () throws(FeedClientError) in
            try await client.listPosts(kept, pageSize: size, from: start)
        }
        try list.take(page)
        return page.posts
    }

    /// Reads the posts that no kept list has, and entries of the outbox name.
    private func readNamedPosts(
        _ chain: String,
        _ client: any FeedCalling,
        _ report: inout SyncReport,
        in renewal: Int
    ) async throws(OfflineError) {
        while true {
            let ids = try perform(in: renewal) { store throws(OfflineError) in
                try store.namedOlderPosts(chain, limit: 100)
            }
            guard !ids.isEmpty else { return }
            let answer = try await Self.calling { () throws(FeedClientError) in
                try await client.getPosts(ids)
            }
            try answer.posts.checkIDs()
            guard !Set(ids).isDisjoint(with: answer.posts.map(\.id) + answer.missingIDs) else {
                throw .violation("The answer to a call for posts has none of them.")
            }
            try take(answer.posts, missing: answer.missingIDs, of: chain, &report, in: renewal)
        }
    }

    private func take(
        _ posts: [Post],
        missing: [PostID] = [],
        of chain: String,
        _ report: inout SyncReport,
        in renewal: Int
    ) throws(OfflineError) {
        try perform(in: renewal) { store throws(OfflineError) in
            try store.take(posts, missing: missing, of: chain, &report)
        }
    }

    private static func calling<Value>(
        _ call: () async throws(FeedClientError) -> Value
    ) async throws(OfflineError) -> Value {
        do {
            return try await call()
        } catch {
            throw .service(error)
        }
    }
}

extension SyncReport {
    fileprivate mutating func count(_ outcome: OutboxOutcome) {
        switch outcome {
        case .done, .gone: sentCount += 1
        case .failed: failedCount += 1
        case .inDoubt, .notSent: break
        }
    }
}

extension OfflineError {
    /// How often a sync connects at most if its last connection, of so many, has ended with this.
    fileprivate func attemptLimit(after count: Int) -> Int {
        guard case .service(let error) = self else { return 1 }
        return switch error {
        // No service of a cluster leads: an election takes a second or two.
        case .refused(let status) where status.isForOthers: 8
        case .connectionLost, .closed: 3
        // A service that starts again takes a moment.
        case .cannotConnect where count > 1: 3
        default: 1
        }
    }
}

extension FeedClientError {
    fileprivate var isRefusal: Bool {
        if case .refused = self { true } else { false }
    }
}
