import FeedProto
import FeedTransport

/// How the files of a dataset become posts: each feed is created or found empty, then filled.
extension Run {
    /// Checks every feed of the dataset before anything is created.
    func prepare(_ dataset: Dataset, _ control: ControlConnection, _ feeds: [Feed]) {
        var missing: [String] = []
        for file in dataset.files {
            guard let feed = feeds.first(where: { $0.name == file.feed }) else {
                missing.append(file.feed)
                continue
            }
            guard feed.voteMode == .tally else { return fail(.ballotFeed(file.feed)) }
            guard feed.postCount == 0 else {
                return fail(.feedNotEmpty(file.feed, postCount: feed.postCount))
            }
        }
        create(missing[...], dataset, control)
    }

    private func create(
        _ missing: ArraySlice<String>,
        _ dataset: Dataset,
        _ control: ControlConnection
    ) {
        guard let name = missing.first else {
            return importNext(dataset, control, since: EventLoop.clock)
        }
        let feed = Feed(name: name, defaultOrder: .top, voteMode: .tally)
        control.call(.createFeed(CreateFeedRequest(feed: feed))) { [unowned self] answer in
            guard case .success(.feed) = answer else {
                return fail(answer, while: "creating the feed \(name)")
            }
            create(missing.dropFirst(), dataset, control)
        }
    }

    private func importNext(
        _ dataset: Dataset,
        _ control: ControlConnection,
        since start: MonotonicInstant
    ) {
        guard dataset.imported.count < dataset.files.count else {
            let passed = EventLoop.clock.duration(since: start)
            return startVoting(dataset, importSeconds: Double(passed.nanoseconds) / 1e9)
        }
        let file = dataset.files[dataset.imported.count]
        if configuration.progressInterval != nil { showProgress("importing \(file.name)") }
        let postImport = PostImport(control, feed: file.feed, posts: file.posts) {
            [unowned self] postImport, error in
            if let error { return importEnded(postImport, error, dataset, file) }
            dataset.take(ids: postImport.ids, refused: postImport.leftOut)
            importNext(dataset, control, since: start)
        }
        postImport.start()
    }

    /// Ends the run before its load; the posts imported so far are still reported, for a later
    /// audit.
    private func importEnded(
        _ postImport: PostImport,
        _ error: ControlError,
        _ dataset: Dataset,
        _ file: DatasetFile
    ) {
        let postIDs = dataset.postIDs + postImport.ids.filter { $0 > 0 }
        let planned = [UInt64](repeating: 0, count: 2 * postIDs.count)
        var knowledge = AuditKnowledge(postIDs: postIDs, planned: planned)
        knowledge.dropPlan()
        preparationEnded(.failure(error), while: "importing \(file.path)", knowledge)
    }

    private func startVoting(_ dataset: Dataset, importSeconds: Double) {
        let planned = dataset.planned
        let total = planned.clampedSum
        guard !planned.isEmpty else { return fail(.noPosts(dataset.firstLeftOut)) }
        guard total <= VoteSchedule.maximumVoteCount else {
            return fail(.tooManyVotes(total, limit: VoteSchedule.maximumVoteCount))
        }
        result.dataset = DatasetResult(dataset, importSeconds: importSeconds)
        let postIDs = dataset.postIDs
        result.configuration.postCount = postIDs.count
        result.configuration.requestCount = total
        let most = stride(from: 0, to: planned.count, by: 2).map { planned[$0] + planned[$0 + 1] }
        result.hottestShare = total > 0 ? Double(most.max() ?? 0) / Double(total) : 0
        knowledge = AuditKnowledge(postIDs: postIDs, planned: planned)
        let (threadCount, seed) = (configuration.threadCount, configuration.seed)
        startThreads(
            // The upvotes and the downvotes of a post are separate numbers.
            postIDs: postIDs.flatMap { [$0, $0] },
            keys: KeyChoice(.uniform, postCount: planned.count, seed: seed),
            tallied: .directions,
            schedule: { VoteSchedule(planned, thread: $0, threadCount: threadCount, seed: seed) }
        )
    }
}
