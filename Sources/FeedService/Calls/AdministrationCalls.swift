internal import FeedAccounts
internal import FeedJournal
internal import FeedProto
internal import FeedRanking
internal import FeedState
internal import Logging

/// The calls of services and operators: feeds, statistics, imports, backups and corrected times.
struct AdministrationCalls {
    /// The shared parts of all calls of the loop.
    let environment: CallEnvironment
    /// The texts of imports that may still be walked in this loop iteration.
    var textWalk: TextWalk

    /// The administration of a loop that has not been called.
    init(_ environment: CallEnvironment) {
        self.environment = environment
        textWalk = TextWalk(byteLimit: environment.context.limits.walkedTextByteCount)
    }

    /// Creates a feed for a service; its policy never changes again.
    func createFeed(_ request: CreateFeedRequest) throws(Status) -> Answer {
        guard let feed = request.feed else { throw .missing("create_feed.feed") }
        try environment.rules.checkFeedName(feed.name)
        let policy = try FeedPolicy(feed, limits: environment.context.limits)
        do throws(RankingError) {
            _ = try environment.store.createFeed(policy, sink: environment.changeLog)
        } catch {
            throw Status(error)
        }
        return .response(.feed(Feed(policy, postCount: 0)), revision: environment.store.revision)
    }

    /// Lets an operator stop the service; the answer leaves before GoAway.
    func drain() -> Answer {
        environment.context.askToDrain()
        return .response(.empty, revision: environment.store.revision)
    }

    /// Lets an operator set the least level of the log's lines.
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
        let revision = environment.store.revision
        let snapshots = environment.store.snapshotUsage
        let statistics = ServiceStatistics(loops: environment.context.counters)
        var stats = ServerStats(
            serverName: ServiceVersion.serverName,
            startTimeMilliseconds: environment.context.startTimeMilliseconds,
            connectionCount: environment.context.openConnectionCount,
            postCount: environment.store.postCount,
            revision: revision,
            methods: statistics.methods(),
            snapshotCount: UInt64(snapshots.count),
            snapshotByteCount: UInt64(snapshots.byteCount),
            watchCount: UInt64(environment.context.watchAdmission.count),
            stripeContentionCount: environment.store.contentionCount,
            acceptedConnectionCount: environment.context.acceptedConnectionCount,
            refusedConnectionCount: environment.context.refusedConnectionCount,
            slowFrameCount: statistics.slowFrameCount,
            badFrameCount: statistics.badFrameCount,
            bufferedByteCount: environment.context.bufferedByteCount,
            acceptPauseCount: environment.context.acceptPauseCount,
            durability: environment.context.state?.durability.rawValue ?? "none",
            journal: environment.context.state.map { JournalStats($0, statistics) },
            channelCount: UInt64(environment.context.channels.count),
            evictedChannelCount: environment.context.channels.evictedCount,
            repeatedCallCount: statistics.repeatedCallCount,
            overBudgetCloseCount: statistics.overBudgetCloseCount,
            channelByteCount: UInt64(clamping: environment.context.channels.byteCount),
            refusedChannelCount: environment.context.channels.refusedCount,
            refusedDeviceCount: environment.context.devices.refusedCount,
            accountCount: UInt64(environment.context.accounts.accountCount),
            sessionCount: UInt64(environment.context.accounts.sessionCount),
            queuedHashCount: UInt64(environment.context.passwords.queuedCount),
            refusedSignInCount: environment.context.signInLimits.refusedCount
                + environment.context.passwords.refusedCount,
            backups: environment.context.state.map {
                BackupStats($0.checkpointThread.backups.status)
            },
            latencies: statistics.latencies(),
            heldTime: environment.context.state.map { _ in LatencyStats("", statistics.heldTime) },
            watchingPeers: role.isTrusted ? watchingPeers() : [],
            postByteCount: UInt64(clamping: environment.store.postByteCount),
            postLimitByteCount: UInt64(environment.context.limits.posts.memoryByteCount),
            refusedPostCount: environment.context.posts.refusedCount
        )
        if !role.isTrusted {
            stats.backups = nil
            stats.journal?.freeByteCount = 0
        }
        return .response(.serverStats(stats), revision: revision)
    }

    /// Who has the most watches.
    private func watchingPeers() -> [WatchingPeer] {
        let context = environment.context
        return context.watchAdmission.largest(8).map { peer, count in
            let key = peer.keyNumber.map { context.serviceKeys?.name(of: $0) ?? "a void key" }
            return WatchingPeer(peer: key ?? peer.hostText, watchCount: UInt64(count))
        }
    }
}
