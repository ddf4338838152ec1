import FeedClient
import FeedConcurrency
import FeedProto
import Glibc
import Synchronization

/// How many votes a second tasks cast through FeedClient, and what a vote costs the client.
///
///     swift build -c release --product ClientBenchmark
///     .build/release/feed-service --in-memory --listen 127.0.0.1:7433 &
///     taskset -c 0,1 .build/release/ClientBenchmark 127.0.0.1:7433 500 4 3 one
///
/// The arguments are the address, the tasks (500), the connections (4) and the seconds (3). `numbered` gives
/// the client an id, so that its votes have sequences; `one` runs the tasks on the thread of one client,
/// `two` on those of two.
@main
struct ClientBenchmark {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let numbers = [500, 4, 3].enumerated().map { place, usual in
            Int(arguments.dropFirst(place + 1).first ?? "") ?? usual
        }
        let load = Load(
            taskCount: numbers[0],
            connectionCount: numbers[1],
            seconds: numbers[2],
            isNumbered: arguments.contains("numbered"),
            threads: arguments.lazy.compactMap(Threads.init).first ?? .pool
        )
        let (rate, cost) = try await load.run(at: arguments.first ?? FeedClient.defaultAddress)
        print("votes/s, and the client's CPU-seconds per million:")
        print(Int(rate), (cost * 1_000).rounded() / 1_000)
    }
}

/// Where the tasks run.
private enum Threads: String {
    /// On the threads of Swift's global executor.
    case pool
    /// On the thread of one client, which has all connections.
    case one
    /// On the threads of two clients, each of which has half of the connections and of the tasks.
    case two

    var clientCount: Int { self == .two ? 2 : 1 }
}

/// Tasks that vote without a pause.
private struct Load {
    private static let postCount: UInt64 = 1_000

    let taskCount: Int
    let connectionCount: Int
    let seconds: Int
    let isNumbered: Bool
    let threads: Threads

    /// Votes at a service for half a second and then for the seconds that count; returns the votes a second
    /// and the CPU-seconds per million.
    func run(at address: String) async throws -> (rate: Double, cost: Double) {
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
        let isOver = Counter()
        let (votes, cpu, time) = try await withThrowingTaskGroup(of: Void.self) { group in
            for (task, counter) in counts.enumerated() {
                let client = clients[task % clients.count]
                group.addTask(executorPreference: threads == .pool ? nil : client.executor) {
                    var post = UInt64(task) * 7
                    while isOver.value == 0 {
                        post = (post + 1) % Self.postCount
                        try await client.vote(on: PostID(rawValue: post + 1), .up)
                        counter.increment()
                    }
                }
            }
            try await Task.sleep(for: .milliseconds(500))
            let start = Moment(counts)
            try await Task.sleep(for: .seconds(seconds))
            let end = Moment(counts)
            isOver.increment()
            try await group.waitForAll()
            return (end.votes - start.votes, end.cpu - start.cpu, end.time - start.time)
        }
        for client in clients { await client.close() }
        return (Double(votes) / time, cpu / Double(votes) * 1_000_000)
    }

    /// Makes sure that there are posts to vote on.
    private static func fill(_ client: FeedClient) async throws {
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
    /// Seconds of processor time, of all threads.
    let cpu = Double(clock()) / Double(CLOCKS_PER_SEC)
    let time = Double(SystemClock.monotonicNanoseconds()) / 1e9

    init(_ counts: [Counter]) { votes = counts.reduce(0) { $0 + $1.value } }
}

/// What a task has done, on a cache line of its own.
private final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0)

    var value: Int { count.load(ordering: .relaxed) }

    func increment() { count.wrappingAdd(1, ordering: .relaxed) }
}
