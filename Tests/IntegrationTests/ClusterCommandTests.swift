import FeedClient
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// `feedctl cluster` against three nodes, each a feed-replica with a feed-service beside it.
@Suite(.serialized, .timeLimit(.minutes(10)), ThreeNodes.needed) struct ClusterCommandTests {
    @Test func theLeadershipMovesUnderLoadAndANodeIsRemoved() async throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let nodes = try await ThreeNodes(in: directory.path)
        do {
            try await run(nodes)
        } catch {
            await nodes.end()
            throw error
        }
        await nodes.end()
    }

    private func run(_ nodes: ThreeNodes) async throws {
        let begun = try await nodes.awaitStatus { $0["role"] as? String == "leader" }
        let members = try #require(begun["members"] as? [[String: Any]])
        #expect(members.map { $0["name"] as? String } == ["a", "b", "c"])
        let leader = try #require(begun["name"] as? String)
        let wanted = try #require(["a", "b", "c"].first { $0 != leader })

        let voter = try await Voter(nodes.addresses)
        let load = Task { try await voter.run() }
        let moved = try await nodes.feedctl(["transfer", wanted])
        #expect(moved["name"] as? String == wanted)
        #expect(moved["is_wanted"] as? Bool == true)
        await voter.stop()
        let count = try await load.value
        #expect(try await voter.count() == count)

        // The service that led starts again meanwhile, to follow.
        #expect(try await nodes.awaitEqualLogs() == 3)

        let refused = try await nodes.run(["remove", wanted])
        #expect(refused.status == 1)
        #expect(refused.output.contains("transfer the leadership first"), "\(refused.output)")
        let removed = try await nodes.feedctl(["remove", leader])
        #expect(removed["member_count"] as? Int == 2)
        #expect(await nodes.replica(leader).exitStatus() == 65)
        #expect(try await nodes.awaitEqualLogs() == 2)
        await voter.close()
    }
}

/// Votes one after the other, until it is stopped.
private actor Voter {
    private let client: FeedClient
    private let post: PostID
    private var isStopped = false

    init(_ addresses: [String]) async throws {
        var configuration = ClientConfiguration()
        configuration.clientID = ClientID()
        configuration.timeout = .seconds(30)
        client = try await FeedClient.connect(to: addresses, configuration: configuration)
        post = try await client.createPost(PostDraft(title: "votes")).id
    }

    func stop() { isStopped = true }

    /// Gives how many votes were counted.
    func run() async throws -> UInt64 {
        var count: UInt64 = 0
        while !isStopped {
            try await client.vote(on: post, .up)
            count += 1
        }
        return count
    }

    func count() async throws -> UInt64 { try await client.getPost(post).upvoteCount }

    func close() async { await client.close() }
}

/// Three nodes on this machine; a service that ends is started again, as its unit does.
private final class ThreeNodes: Sendable {
    private static let program = Programs.projectFolder.appending(
        path: ".build/replica/feed-replica"
    )
    private static let names = ["a", "b", "c"]

    /// Skips a test where feed-replica was not built.
    static let needed: ConditionTrait = .enabled("scripts/replica.sh build makes feed-replica") {
        FileManager.default.isExecutableFile(atPath: program.path())
    }

    private let ports: [ReservedPort]
    private let replicas: [RunningProcess]
    private let services = Locked<[Task<Void, Never>]>([])
    private let running = Locked<[String: RunningProcess]>([:])
    private let isEnding = Locked(false)

    var addresses: [String] { ports.map(\.address) }

    init(in directory: String) async throws {
        let ports = try (0..<3).map { _ in try ReservedPort() }
        let peers = try (0..<3).map { _ in try ReservedPort() }
        self.ports = ports
        let data = "\(directory)/a.data"
        let made = try await DurableService.start(data)
        _ = await made.stop()
        let begun = try await Self.finish(Programs.feedService, ["begin-cluster", data])
        let last = try #require(begun.firstMatch(of: /last index (\d+)/)).1
        let number = try #require(begun.firstMatch(of: /cluster ([0-9a-f]{32})/)).1
        for name in Self.names.dropFirst() {
            try FileManager.default.copyItem(atPath: data, toPath: "\(directory)/\(name).data")
        }
        let list = zip(Self.names, peers).map { "\($0)=http://\($1.address)" }
        var replicas: [RunningProcess] = []
        for (name, peer) in zip(Self.names, peers) {
            let settings = [
                "--dir", "\(directory)/\(name).log", "--name", name, "--listen",
                "http://\(peer.address)", "--socket", "\(directory)/\(name).socket",
                "--metrics", "127.0.0.1:0",
            ]
            _ = try await Self.finish(
                Self.program,
                ["init", "--last-index", "\(last)", "--cluster", "\(number)", "--members"]
                    + [list.joined(separator: ",")] + settings
            )
            replicas.append(try RunningProcess(Self.program, ["run"] + settings))
        }
        self.replicas = replicas
        for (name, port) in zip(Self.names, ports) {
            let arguments = [
                "--listen", port.address, "--data-dir", "\(directory)/\(name).data",
                "--replica", "\(directory)/\(name).socket", "--advertise", port.address,
            ]
            let task = Task { [self] in await keepUp(name, arguments) }
            services.withLock { $0.append(task) }
        }
    }

    private func keepUp(_ name: String, _ arguments: [String]) async {
        while !isEnding.withLock({ $0 }) {
            guard let process = try? RunningProcess(Programs.feedService, arguments) else { return }
            running.withLock { $0[name] = process }
            _ = await process.exitStatus()
        }
    }

    private static func finish(_ program: URL, _ arguments: [String]) async throws -> String {
        let (status, output) = try await RunningProcess(program, arguments).finish()
        try #require(status == 0, "\(output)")
        return output.joined(separator: "\n")
    }

    func replica(_ name: String) -> RunningProcess {
        replicas[Self.names.firstIndex(of: name) ?? 0]
    }

    func run(_ arguments: [String]) async throws -> (status: Int32, output: String) {
        let target = addresses.joined(separator: ",")
        return try await FeedCtlTests.run(["cluster"] + arguments + ["--target", target])
    }

    /// Runs a command that succeeds, and gives what it prints for programs.
    func feedctl(_ arguments: [String]) async throws -> [String: Any] {
        try FeedCtlTests.object(try await run(arguments + ["--json"]))
    }

    /// Asks until a status is as wanted.
    func awaitStatus(_ isWanted: ([String: Any]) -> Bool) async throws -> [String: Any] {
        while true {
            let result = try await run(["status", "--json"])
            guard result.status == 0 else { continue }
            let status = try FeedCtlTests.object(result)
            if isWanted(status) { return status }
        }
    }

    /// Compares until all nodes were asked and have the same log; gives how many they are.
    func awaitEqualLogs() async throws -> Int {
        while true {
            let result = try await run(["verify", "--json"])
            try #require(!result.output.contains("differs"), "\(result.output)")
            guard result.status == 0 else { continue }
            let members = try FeedCtlTests.object(result)["members"] as? [Any]
            return try #require(members).count
        }
    }

    func end() async {
        isEnding.withLock { $0 = true }
        for process in replicas { process.signal(9) }
        for process in running.withLock({ Array($0.values) }) { process.signal(9) }
        for process in replicas { _ = await process.exitStatus() }
        for task in services.withLock({ $0 }) { await task.value }
    }
}
