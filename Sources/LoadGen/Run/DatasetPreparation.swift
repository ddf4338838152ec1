import FeedClient
internal import FeedDataset
internal import FeedImport
import FeedProto
import FeedTransport

/// How the files of a dataset become posts: each feed is created or found empty, then filled.
struct DatasetPreparation {
    let configuration: RunConfiguration
    let dataset: Dataset
    let client: FeedClient
    let address: SocketAddress
    let showProgress: @Sendable (String) -> Void

    /// Imports the files into a service that has `feeds`.
    func run(
        _ feeds: [Feed],
        _ service: ServiceIdentity
    ) async throws(RunFailure) -> PreparedRun {
        try await createFeeds(beside: feeds)
        let start = ContinuousClock.now
        var imported = ImportedDataset(repeatCount: configuration.repeatCount)
        for file in dataset.files {
            showProgress("importing \(file.name)")
            do {
                try await importPosts(of: file, &imported)
            } catch {
                let failure = RunFailure(error, while: "importing \(file.path)")
                return try endEarly(failure, imported, service)
            }
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        return try vote(on: imported, service, importSeconds: seconds)
    }

    /// Checks every feed of the dataset before it creates the missing ones.
    private func createFeeds(beside feeds: [Feed]) async throws(RunFailure) {
        var missing: [String] = []
        for file in dataset.files {
            guard let feed = feeds.first(where: { $0.name == file.feed }) else {
                missing.append(file.feed)
                continue
            }
            guard feed.voteMode == .tally else { throw .ballotFeed(file.feed) }
            guard feed.postCount == 0 else {
                throw .feedNotEmpty(file.feed, postCount: feed.postCount)
            }
        }
        for name in missing {
            do throws(FeedClientError) {
                try await client.createFeed(
                    Feed(
                        name: name,
                        defaultOrder: .top,
                        voteMode: .tally,
                        maximumTitleLength: 1_000
                    )
                )
            } catch {
                throw RunFailure(error, while: "creating the feed \(name)")
            }
        }
    }

    /// Imports the posts of a file without their votes, which are the load.
    private func importPosts(of file: DatasetFile, _ imported: inout ImportedDataset) async throws {
        imported.begin(file)
        var rows = file.posts.makeIterator()
        try await PostImport(over: client, into: file.feed, votes: .cast).run(
            rows: { rows.next().map(DatasetRow.post) },
            take: { imported.add($0) }
        )
        imported.finishFile()
    }

    /// Ends the run before its load; the posts imported so far are still reported, for a later
    /// audit.
    private func endEarly(
        _ failure: RunFailure,
        _ imported: ImportedDataset,
        _ service: ServiceIdentity
    ) throws(RunFailure) -> PreparedRun {
        let postIDs = imported.postIDs
        guard !postIDs.isEmpty else { throw failure }
        var knowledge = AuditKnowledge(postIDs: postIDs, planned: imported.planned)
        knowledge.dropPlan()
        return PreparedRun(
            address: address,
            server: .feed(service),
            knowledge: knowledge,
            outcome: .endedEarly(failure)
        )
    }

    private func vote(
        on imported: ImportedDataset,
        _ service: ServiceIdentity,
        importSeconds: Double
    ) throws(RunFailure) -> PreparedRun {
        let planned = imported.planned
        let total = planned.clampedSum
        guard !planned.isEmpty else { throw .noPosts(imported.firstLeftOut) }
        guard total <= UInt64(PlannedVotes.maximumCount) else {
            throw .tooManyVotes(total, limit: UInt64(PlannedVotes.maximumCount))
        }
        let postIDs = imported.postIDs
        let workload = Workload(
            // The upvotes and the downvotes of a post are separate numbers.
            postIDs: postIDs.flatMap { [$0, $0] },
            keys: KeyChoice(.uniform, postCount: planned.count, seed: configuration.seed),
            planned: PlannedVotes(planned)
        )
        let most = stride(from: 0, to: planned.count, by: 2).map { planned[$0] + planned[$0 + 1] }
        let hottestShare = total > 0 ? Double(most.max() ?? 0) / Double(total) : 0
        return PreparedRun(
            address: address,
            server: .feed(service),
            knowledge: AuditKnowledge(postIDs: postIDs, planned: planned),
            outcome: .ready(workload, hottestShare: hottestShare),
            imported: imported,
            dataset: DatasetResult(imported, importSeconds: importSeconds)
        )
    }
}
