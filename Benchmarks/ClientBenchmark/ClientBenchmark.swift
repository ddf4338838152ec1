import FeedClient
import FeedConcurrency
import FeedProto
import Synchronization

/// How many votes a second tasks cast through FeedClient, and what a vote or a watch costs the client.
///
///     swift build -c release --product ClientBenchmark
///     .build/release/feed-service --in-memory --listen 127.0.0.1:7433 &
///     taskset -c 0,1 .build/release/ClientBenchmark 127.0.0.1:7433
///
/// Further arguments are the tasks, the connections and the seconds of one run. `numbered` gives the
/// client an id, so that its votes have sequences; `one` runs the tasks on the thread of one client, `two`
/// on those of two. Without them each row of the table runs.
///
/// `watch`, behind the address, measures watches in place of votes. Further arguments are the posts of each
/// watch, the clients, each of which has 16 watches, and the seconds.
@main
struct ClientBenchmark {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let address = arguments.first ?? FeedClient.defaultAddress
        let numbers = arguments.dropFirst().compactMap { Int($0) }
        let seconds = numbers.count > 2 ? numbers[2] : 3
        guard !arguments.contains("watch") else {
            return try await watch(at: address, numbers, seconds)
        }
        print("tasks connections sequences  threads   votes/s  client CPU-s/M")
        guard numbers.count > 1 else {
            for (tasks, connections) in [(1, 1), (50, 1), (500, 1), (500, 4)] {
                for (isNumbered, threads) in [
                    (false, Load.Threads.pool), (true, .pool), (false, .one), (false, .two),
                ] where connections >= threads.clientCount {
                    let load = Load(
                        taskCount: tasks,
                        connectionCount: connections,
                        seconds: seconds,
                        isNumbered: isNumbered,
                        threads: threads
                    )
                    print(try await load.run(at: address))
                }
            }
            return
        }
        let load = Load(
            taskCount: numbers[0],
            connectionCount: numbers[1],
            seconds: seconds,
            isNumbered: arguments.contains("numbered"),
            threads: arguments.lazy.compactMap(Load.Threads.init).first ?? .pool
        )
        print(try await load.run(at: address))
    }

    private static func watch(at address: String, _ numbers: [Int], _ seconds: Int) async throws {
        let load = WatchLoad(
            clientCount: numbers.count > 1 ? numbers[1] : 60,
            rowCount: numbers.first ?? 20,
            seconds: seconds
        )
        print(WatchLoad.header)
        print(try await load.run(at: address))
    }
}
