import FeedClient
import FeedConcurrency
import FeedProto
import Synchronization

/// How many votes a second tasks cast through FeedClient, and what a vote costs the client.
///
///     swift build -c release --product ClientBenchmark
///     .build/release/feed-service --in-memory --listen 127.0.0.1:7433 &
///     taskset -c 0,1 .build/release/ClientBenchmark 127.0.0.1:7433
///
/// Further arguments are the tasks, the connections and the seconds of one run. `numbered` gives the
/// client an id, so that its votes have sequences; `on-loop` runs the tasks on the client's thread.
/// Without them each row of the table runs.
@main
struct ClientBenchmark {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let address = arguments.first ?? FeedClient.defaultAddress
        let numbers = arguments.dropFirst().compactMap { Int($0) }
        let seconds = numbers.count > 2 ? numbers[2] : 3
        print("tasks connections sequences  threads   votes/s  client CPU-s/M")
        guard numbers.count > 1 else {
            for (tasks, connections) in [(1, 1), (50, 1), (500, 1), (500, 4)] {
                for (isNumbered, isOnLoop) in [(false, false), (true, false), (false, true)] {
                    let load = Load(tasks, connections, seconds, isNumbered, isOnLoop)
                    print(try await load.run(at: address))
                }
            }
            return
        }
        let load = Load(
            numbers[0],
            numbers[1],
            seconds,
            arguments.contains("numbered"),
            arguments.contains("on-loop")
        )
        print(try await load.run(at: address))
    }
}
