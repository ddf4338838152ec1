import FeedTransport

/// What a run does before its load on redis-server: it creates the sorted set that stands for the
/// posts.
struct RESPPreparation: Sendable {
    let configuration: RunConfiguration
    let addresses: [SocketAddress]
    /// Shows a progress line, if there are any.
    let showProgress: @Sendable (String) -> Void

    /// Prepares the run.
    func run() async throws(RunFailure) -> PreparedRun {
        let (client, address) = try await connect()
        let posts = RESPSortedSet()
        var failure: RunFailure?
        do throws(RESPFailure) {
            try await add(to: posts, over: client)
        } catch {
            failure = RunFailure(error, while: "adding posts")
        }
        await client.close()
        if let failure { throw failure }
        let ids = Array(0..<UInt64(configuration.postCount))
        let keys = KeyChoice(configuration.keys, postCount: ids.count, seed: configuration.seed)
        var workload = Workload(postIDs: ids, keys: keys)
        workload.sortedSet = posts
        return PreparedRun(
            address: address,
            server: .resp(posts),
            knowledge: AuditKnowledge(postIDs: ids),
            outcome: .ready(workload, hottestShare: keys.hottestShare)
        )
    }

    /// Connects to the first address that answers.
    private func connect() async throws(RunFailure) -> (RESPClient, SocketAddress) {
        var failure = RESPFailure.connectionLost
        for address in addresses {
            do throws(RESPFailure) {
                return (try await RESPClient.connect(to: address, configuration), address)
            } catch {
                failure = error
            }
        }
        throw .noRedis(target: configuration.target, cause: failure.description)
    }

    private func add(to posts: RESPSortedSet, over client: RESPClient) async throws(RESPFailure) {
        let total = UInt64(configuration.postCount)
        var first: UInt64 = 0
        while first < total {
            let end = min(first + Self.postsPerCommand, total)
            let replies = try await client.call([posts.add(first..<end)])
            guard replies == [.integer(Int64(end - first))] else {
                throw .badReply("ZADD of \(end - first) new members was answered otherwise.")
            }
            first = end
            if first.isMultiple(of: Self.progressStep) {
                showProgress(
                    "adding posts  \(NumberFormat.count(first)) of \(NumberFormat.count(total))"
                )
            }
        }
    }

    private static let postsPerCommand: UInt64 = 1000
    private static let progressStep: UInt64 = 10_000
}

extension RunFailure {
    /// The failure of commands while the run did `step`.
    init(_ error: RESPFailure, while step: String) {
        self = .redis(step: step, cause: error.description)
    }
}
