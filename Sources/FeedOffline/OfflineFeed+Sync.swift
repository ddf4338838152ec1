import FeedClient
import FeedProto

/// How a sync goes: a connection of its own, the outbox, then the copies.
extension OfflineFeed {
    /// How often a sync connects where its connection is lost.
    private static let maximumAttemptCount = 3

    func run() async throws(OfflineError) -> SyncReport {
        var report = SyncReport()
        var attempt = 1
        let renewal = renewalCount
        let backoff = Backoff(configuration.client.retry)
        var generator = SystemRandomNumberGenerator()
        while true {
            do throws(OfflineError) {
                try await run(&report, renewal)
                return report
            } catch {
                // A service that starts again takes a moment.
                guard attempt < Self.maximumAttemptCount,
                    error.isLostConnection || attempt > 1 && error.isRefusedConnection
                else { throw error }
                await wait(backoff.delay(round: attempt, using: &generator))
                attempt += 1
            }
        }
    }

    private func run(
        _ report: inout SyncReport,
        _ renewal: Int
    ) async throws(OfflineError) {
        let client = try await connect(renewal)
        do throws(OfflineError) {
            // The modes of votes, before a vote of a BALLOT feed is shown.
            let feeds = try await Self.calling { () throws(FeedClientError) in
                try await client.feeds()
            }
            try perform(in: renewal) { store throws(OfflineError) in try store.keep(feeds) }
            try await flush(client, &report, renewal)
            for feed in configuration.copiedFeeds {
                try await copy(feed, client, &report, renewal)
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
    private func connect(_ renewal: Int) async throws(OfflineError) -> any NumberedCalling {
        let identity = try perform(in: renewal) { store throws(OfflineError) in
            try store.beginGreeting()
        }
        var configuration = configuration.client
        configuration.clientID = identity.clientID
        configuration.channel = identity.channel
        configuration.connectionCount = 1
        configuration.waitsForService = false
        configuration.reconnects = false
        let client: any NumberedCalling
        do {
            client = try await connect(self.configuration.addresses, configuration)
        } catch {
            throw .service(error)
        }
        do throws(OfflineError) {
            guard client.service.takesSequences else { throw .noSequences }
            let hello = client.service
            try perform(in: renewal) { store throws(OfflineError) in
                try store.greeted(by: hello, hasLostHello: identity.isGreeting)
            }
        } catch {
            await client.close()
            throw error
        }
        return client
    }

    /// Sends the entries of the one who is connected, until none is left that can be sent.
    private func flush(
        _ client: any NumberedCalling,
        _ report: inout SyncReport,
        _ renewal: Int
    ) async throws(OfflineError) {
        // Not what the session store says: the session may have ended, or another one begun.
        let userID = client.service.user?.id ?? 0
        var stop: FeedClientError?
        while stop == nil {
            guard !Task.isCancelled else { throw .service(.cancelled(effect: .none)) }
            let next = try performOnOutbox(in: renewal) { file throws(OfflineError) in
                try file.numberNext(of: userID)
            }
            guard !next.isEmpty else { break }
            let results = await client.make(next.map(\.change), timeout: nil)
            var outcomes: [(number: UInt64, outcome: OutboxOutcome)] = []
            for (entry, result) in zip(next, results) {
                let step = FlushStep(result, of: entry.change)
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

    /// Follows the chain of a feed to its end.
    private func copy(
        _ feed: String,
        _ client: any NumberedCalling,
        _ report: inout SyncReport,
        _ renewal: Int
    ) async throws(OfflineError) {
        var progress = SyncProgress()
        while true {
            let request = try perform(in: renewal) { store throws(OfflineError) in
                try store.nextRequest(feed)
            }
            let answer = try await Self.calling { () throws(FeedClientError) in
                try await client.syncPosts(request)
            }
            try progress.check(answer, to: request)
            var counted = report
            try perform(in: renewal) { store throws(OfflineError) in
                try store.take(answer, feed: feed, &counted)
            }
            report = counted
            guard answer.hasMore else { return }
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
    /// Whether a connection was lost that had been there.
    fileprivate var isLostConnection: Bool {
        switch self {
        case .service(.connectionLost), .service(.closed): true
        default: false
        }
    }

    /// Whether nobody answered at the address.
    fileprivate var isRefusedConnection: Bool {
        if case .service(.cannotConnect) = self { true } else { false }
    }
}

extension FeedClientError {
    fileprivate var isRefusal: Bool {
        if case .refused = self { true } else { false }
    }
}

extension HelloResponse {
    /// Whether changes take sequences: at once, or once the service has room for the channel.
    fileprivate var takesSequences: Bool {
        capabilities.contains(.exactlyOnce) || channelStatus != nil
    }
}
