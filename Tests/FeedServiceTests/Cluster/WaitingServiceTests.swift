import FakeReplica
import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import FeedTransport
import Foundation
import Testing

/// A service of a cluster's whose directory has no state yet.
@Suite(.serialized, .timeLimit(.minutes(5))) struct WaitingServiceTests {
    private func options(_ directory: TemporaryDirectory, _ socket: String) -> StateOptions {
        var options = StateOptions(path: directory.path + "/data", logCount: 1)
        options.replica = ReplicaOptions(socketPath: socket, address: ClusterService.address)
        return options
    }

    private func start(_ options: StateOptions) throws -> FeedServer {
        var configuration = ServiceConfiguration(
            addresses: [.loopback(port: 0)],
            threadCount: 1
        )
        configuration.state = options
        configuration.admin = .loopback(port: 0)
        return try FeedServer.startQuietly(configuration)
    }

    /// Without an instance no client may take it for another state.
    @Test func itListensAndAnswersNothingOfTheState() async throws {
        let directory = try TemporaryDirectory()
        let server = try start(options(directory, directory.path + "/none"))
        let port = try #require(server.addresses.first?.port)
        let admin = try #require(server.adminAddress?.port)
        try await offload {
            let client = try WireClient(port: port)
            let calls: [Request] = [
                .hello(HelloRequest()), .listPosts(ListPostsRequest(feed: "posts")),
                .castVote(CastVoteRequest(postID: 1, direction: .up)), .backup,
            ]
            for call in calls {
                let status = try client.call(call).status
                #expect(status?.code == .unavailable && status?.reason == .notLeader, "\(call)")
                #expect(status?.message.contains("waits for that of its cluster") == true)
                #expect(status?.retryAfterMilliseconds == 500)
            }
            #expect(try client.call(.ping(PingRequest())).status == nil)
            let ready = try OperatorAddressTests.get("/ready", admin)
            #expect(ready.hasPrefix("HTTP/1.1 503"))
            #expect(ready.contains("waits for the state of the cluster"))
        }
        try await server.drain()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.path + "/data") == [
                "lock"
            ]
        )
    }

    /// A replica whose log begins behind a state, and that has no file of it, cannot help.
    @Test func itEndsWhereNoStateIsToBeHad() async throws {
        let directory = try TemporaryDirectory()
        let replica = try FakeReplica(in: FakeCluster(behind: 7))
        try replica.start()
        defer { replica.stop() }
        let server = try start(options(directory, replica.socketPath))
        let status = await withCheckedContinuation { continuation in
            server.onFailure { continuation.resume(returning: $0) }
        }
        #expect(status == 5)
        try await server.drain()
        #expect(replica.cluster.violations == [])
    }

    /// Not as one of one machine, which is told to restore a backup and to serve that.
    @Test func aDirectoryThatHasLostItsStateIsReplaced() throws {
        let directory = try TemporaryDirectory()
        let options = options(directory, "/unused")
        let journal = options.path + "/journal"
        try FileManager.default.createDirectory(
            atPath: journal,
            withIntermediateDirectories: true
        )
        try Data([1]).write(to: URL(filePath: journal + "/00000000000000000001.log"))
        do {
            _ = try start(options)
            Issue.record("It was served.")
        } catch ServiceStartError.refused(let refusal) {
            #expect(refusal.exitStatus == 5)
            #expect("\(refusal)".contains("What to do: Replace the node"), "\(refusal)")
            #expect(!"\(refusal)".contains("--data-dir"), "\(refusal)")
        }
    }

    @Test func aDirectoryThatMustExistIsRefused() throws {
        let directory = try TemporaryDirectory()
        var options = options(directory, "/unused")
        options.mustExist = true
        #expect(throws: ServiceStartError.self) { try start(options) }
    }
}
