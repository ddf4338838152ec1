import FeedClient
import FeedProto

/// Tasks that follow watches of the first posts of a list, which votes change all the time.
struct WatchLoad {
    /// The watches of a connection.
    static let clientWatchCount = 16
    private static let interval = Duration.milliseconds(250)
    private static let voteInterval = Duration.microseconds(2_500)

    let clientCount: Int
    /// The posts of each watch.
    let rowCount: Int
    let seconds: Int

    private var watchCount: Int { clientCount * Self.clientWatchCount }

    static let header = "watches  rows  events/s  CPU µs/event  memory KB/watch"

    /// Votes alone and then beside the watches, for as many seconds each; returns a row.
    func run(at address: String) async throws -> String {
        let voter = try await FeedClient.connect(to: address)
        try await Load.fill(voter)
        var clients: [FeedClient] = []
        for _ in 0..<clientCount { clients.append(try await FeedClient.connect(to: address)) }
        let events = Counter()
        let result = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await vote(voter) }
            let alone = try await usage(events)
            let memory = Usage.peakByteCount()
            for client in clients {
                let list = PostWatch(.top(rowCount), in: "posts", order: .top)
                for _ in 0..<Self.clientWatchCount {
                    group.addTask {
                        for try await posts in client.watch(list, interval: Self.interval) {
                            precondition(posts.rows.count == rowCount)
                            events.increment()
                        }
                    }
                }
            }
            // Each watch has had some events.
            try await Task.sleep(for: .seconds(2))
            let watched = try await usage(events)
            let added = Usage.peakByteCount() - memory
            group.cancelAll()
            let cost = (watched.cpu - alone.cpu) / Double(max(1, watched.events))
            return row(watched.events / seconds, cost * 1_000_000, added / watchCount)
        }
        for client in clients + [voter] { await client.close() }
        return result
    }

    /// Votes on the watched posts until the task is cancelled, 400 times a second.
    private func vote(_ client: FeedClient) async throws {
        var turn = 0
        while !Task.isCancelled {
            let posts = try await client.listPosts(PostList(feed: "posts", order: .top)).posts
            for _ in 0..<100 {
                turn += 1
                try await client.vote(on: posts[turn % min(rowCount, posts.count)].id, .up)
                try await Task.sleep(for: Self.voteInterval)
            }
        }
    }

    /// What the process uses and gets while the votes go on.
    private func usage(_ events: Counter) async throws -> (cpu: Double, events: Int) {
        let before = (cpu: Usage.processorSeconds(), events: events.value)
        try await Task.sleep(for: .seconds(seconds))
        return (Usage.processorSeconds() - before.cpu, events.value - before.events)
    }

    private func row(_ rate: Int, _ microseconds: Double, _ byteCount: Int) -> String {
        let tenths = Int((microseconds * 10).rounded())
        return "\(watchCount)".rightAligned(7) + "\(rowCount)".rightAligned(6)
            + "\(rate)".rightAligned(10) + "\(tenths / 10).\(tenths % 10)".rightAligned(14)
            + "\(byteCount >> 10)".rightAligned(17)
    }
}
