import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// The durable service as a process of its own, on a data directory and a free port.
struct DurableService {
    let process: RunningProcess
    let port: UInt16

    /// Skips a test where the service that was built keeps no state in a data directory.
    static let needed: ConditionTrait = .enabled("the service has no --data-dir") {
        let (_, output) = try await RunningProcess(Programs.feedService, ["--help"]).finish()
        return output.contains { $0.contains("--data-dir") }
    }

    /// Starts the service and waits until it listens.
    static func start(
        _ directory: String,
        _ arguments: [String] = [],
        faults: FaultInjector? = nil
    ) async throws -> DurableService {
        let process = try launch(directory, arguments, faults: faults)
        let line = try #require(
            await process.line { $0.contains("listening on") },
            "the service ended without a start line: \(process.output)"
        )
        let address = try #require(line.firstMatch(of: /listening on 127\.0\.0\.1:(\d+)/))
        return DurableService(process: process, port: try #require(UInt16(address.1)))
    }

    /// Starts the service, whatever becomes of it.
    static func launch(
        _ directory: String,
        _ arguments: [String] = [],
        faults: FaultInjector? = nil
    ) throws -> RunningProcess {
        try RunningProcess(
            Programs.feedService,
            ["--listen", "127.0.0.1:0", "--data-dir", directory] + arguments,
            environment: faults?.environment ?? [:]
        )
    }

    /// Expects that the service does not start, exits with a status and says all of the texts; gives
    /// all that it says.
    @discardableResult
    static func expectRefusal(
        _ directory: String,
        _ status: Int32,
        _ texts: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [String] {
        let process = try launch(directory)
        if await process.line(where: { $0.contains("listening on") }) != nil {
            Issue.record("the service has started", sourceLocation: sourceLocation)
            process.signal(9)
        }
        let (found, output) = await process.finish()
        let text = output.joined(separator: "\n")
        #expect(found == status, "\(text)", sourceLocation: sourceLocation)
        for part in texts {
            #expect(text.contains(part), "\(text)", sourceLocation: sourceLocation)
        }
        return output
    }

    /// Runs calls of a client on a thread of its own.
    func call<Value: Sendable>(
        _ body: @escaping @Sendable (WireClient) throws -> Value
    ) async throws -> Value {
        try await offload { [port] in try body(WireClient(port: port)) }
    }

    /// Creates a post that is voted up so often; returns its id.
    func createPost(_ title: String, votes: Int) async throws -> PostID {
        try await call { client in
            let id = try client.createPost(title: title)
            for _ in 0..<votes { _ = try client.vote(id) }
            return id
        }
    }

    func importHundreds(_ count: Int) async throws {
        try await call { client in
            let text = String(repeating: "x", count: 100)
            let posts = [Post](repeating: Post(title: "import", text: text), count: 100)
            for _ in 0..<count {
                _ = try client.call(.importPosts(ImportPostsRequest(feed: "posts", posts: posts)))
            }
        }
    }

    /// How often a post was voted up.
    func upvotes(_ id: PostID) async throws -> UInt64 {
        try await call { client in
            let answer = try client.call(.getPost(GetPostRequest(id: id)))
            guard case .post(let post) = answer.response else {
                throw answer.status ?? Status(code: .unknown, reason: .internal, message: "no post")
            }
            return post.upvoteCount
        }
    }

    /// Asks the service to stop and waits for its exit status.
    func stop() async -> Int32 {
        process.signal(15)
        return await process.exitStatus()
    }

    /// Ends the service without notice.
    func kill() async {
        process.signal(9)
        _ = await process.exitStatus()
    }
}

struct ServiceProcess {
    let process: RunningProcess
    let port: UInt16

    /// Starts the service and waits for its start line.
    static func start(_ arguments: [String] = []) async throws -> ServiceProcess {
        let process = try RunningProcess(
            Programs.feedService,
            ["--listen", "127.0.0.1:0"] + (arguments.contains("--data-dir") ? [] : ["--in-memory"])
                + arguments
        )
        let line = try #require(
            await process.line { $0.contains("listening on") },
            "the service ended without a start line: \(process.output)"
        )
        let address = try #require(line.firstMatch(of: /listening on 127\.0\.0\.1:(\d+)/))
        return ServiceProcess(process: process, port: try #require(UInt16(address.1)))
    }

    /// Asks the service to stop and waits for its exit status.
    func stop() async -> Int32 {
        process.signal(15)
        return await process.exitStatus()
    }
}
