import FeedClient
import FeedConcurrency
import FeedProto
import Synchronization

/// Tasks that vote without a pause.
struct Load {
    private static let postCount: UInt64 = 1_000

    let taskCount: Int
    let connectionCount: Int
    let seconds: Int
    let isNumbered: Bool
    let threads: Threads

    /// Where the tasks run.
    enum Threads: String {
        /// On the threads of Swift's global executor.
        case pool
        /// On the thread of one client, which has all connections.
        case one
        /// On the threads of two clients, each of which has half of the connections and of the tasks.
        case two

        var clientCount: Int { self == .two ? 2 : 1 }
    }

    /// Votes at a service for half a second and then for the seconds that count; returns a row.
    func run(at address: String) async throws -> String {
        var clients: [FeedClient] = []
        for _ in 0..<threads.clientCount {
            var configuration = ClientConfiguration()
            configuration.connectionCount = connectionCount / threads.clientCount
            configuration.clientID = isNumbered ? ClientID() : nil
            clients.append(
                try await FeedClient.connect(to: address, configuration: configuration)
            )
        }
        try await Self.fill(clients[0])
        let counts = (0..<taskCount).map { _ in Counter() }
        let isOver = Flag()
        let (votes, cpu, time) = try await withThrowingTaskGroup(of: Void.self) { group in
            for (task, counter) in counts.enumerated() {
                let client = clients[task % clients.count]
                group.addTask(executorPreference: threads == .pool ? nil : client.executor) {
                    var post = UInt64(task) * 7
                    while !isOver.isSet {
                        post = (post + 1) % Self.postCount
                        try await client.vote(on: post + 1, .up)
                        counter.increment()
                    }
                }
            }
            try await Task.sleep(for: .milliseconds(500))
            let start = Moment(counts)
            try await Task.sleep(for: .seconds(seconds))
            let end = Moment(counts)
            isOver.set()
            try await group.waitForAll()
            return (end.votes - start.votes, end.cpu - start.cpu, end.time - start.time)
        }
        for client in clients { await client.close() }
        let rate = Double(votes) / time
        let cost = cpu / Double(votes) * 1_000_000
        return row(Int(rate), Int((cost * 1_000).rounded()))
    }

    private func row(_ rate: Int, _ cost: Int) -> String {
        let thousandths = "\(cost % 1_000)".rightAligned(3).replacing(" ", with: "0")
        return "\(taskCount)".rightAligned(5) + "\(connectionCount)".rightAligned(12)
            + (isNumbered ? "yes" : "no").rightAligned(10) + threads.rawValue.rightAligned(9)
            + "\(rate)".rightAligned(10)
            + "\(cost / 1_000).\(thousandths)".rightAligned(16)
    }

    /// Makes sure that there are posts to vote on.
    static func fill(_ client: FeedClient) async throws {
        var count = try await client.stats().postCount
        while count < postCount {
            try await client.importPosts((0..<200).map { Post(title: "Post \($0)") })
            count += 200
        }
    }
}

/// What the process has done so far.
private struct Moment {
    let votes: Int
    /// Seconds of processor time.
    let cpu: Double
    let time: Double

    init(_ counts: [Counter]) {
        votes = counts.reduce(0) { $0 + $1.value }
        cpu = Usage.processorSeconds()
        time = Double(SystemClock.monotonicNanoseconds()) / 1e9
    }
}

/// A value that is set once, read by all tasks.
private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .relaxed) }

    func set() { value.store(true, ordering: .relaxed) }
}
