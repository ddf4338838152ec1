import FeedClient
import FeedConcurrency
import FeedProto
import Glibc
import Synchronization

/// How many votes a second tasks cast through FeedClient, and what a vote costs the client.
///
///     swift build -c release --product ClientBenchmark
///     .build/release/feed-service --in-memory --listen 127.0.0.1:7433 &
///     taskset -c 0,1 .build/release/ClientBenchmark 127.0.0.1:7433
///
/// Further arguments are the tasks, the connections and the seconds of one run. `numbered` gives the
/// client an id, so that its votes have sequences; `one` runs the tasks on the thread of one client, `two`
/// on those of two. Without them each row of the table runs.
@main
struct ClientBenchmark {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let address = arguments.first ?? FeedClient.defaultAddress
        let numbers = arguments.dropFirst().compactMap { Int($0) }
        let seconds = numbers.count > 2 ? numbers[2] : 3
        let isOneRun = numbers.count > 1
        let shapes = isOneRun ? [(numbers[0], numbers[1])] : [(1, 1), (50, 1), (500, 1), (500, 4)]
        let threads = arguments.lazy.compactMap(Threads.init).first ?? .pool
        let ways: [(isNumbered: Bool, threads: Threads)] =
            isOneRun
            ? [(arguments.contains("numbered"), threads)]
            : [(false, .pool), (true, .pool), (false, .one), (false, .two)]
        print("tasks connections sequences  threads   votes/s  client CPU-s/M")
        for (tasks, connections) in shapes {
            for way in ways where connections >= way.threads.clientCount {
                let load = Load(
                    taskCount: tasks,
                    connectionCount: connections,
                    seconds: seconds,
                    isNumbered: way.isNumbered,
                    threads: way.threads
                )
                print(try await load.run(at: address))
            }
        }
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
        let isOver = Counter()
        let (votes, cpu, time) = try await withThrowingTaskGroup(of: Void.self) { group in
            for (task, counter) in counts.enumerated() {
                let client = clients[task % clients.count]
                group.addTask(executorPreference: threads == .pool ? nil : client.executor) {
                    var post = UInt64(task) * 7
                    while isOver.value == 0 {
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
            isOver.increment()
            try await group.waitForAll()
            return (end.votes - start.votes, end.cpu - start.cpu, end.time - start.time)
        }
        for client in clients { await client.close() }
        let rate = Double(votes) / time
        let cost = cpu / Double(votes) * 1_000_000
        return row(Int(rate), Int((cost * 1_000).rounded()))
    }

    private func row(_ rate: Int, _ cost: Int) -> String {
        let thousandths = String(String(1_000 + cost % 1_000).dropFirst())
        let cells: [(String, Int)] = [
            ("\(taskCount)", 5), ("\(connectionCount)", 12), (isNumbered ? "yes" : "no", 10),
            (threads.rawValue, 9), ("\(rate)", 10), ("\(cost / 1_000).\(thousandths)", 16),
        ]
        return cells.map { text, width in
            String(repeating: " ", count: max(0, width - text.count)) + text
        }.joined()
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
