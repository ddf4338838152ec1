import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// feed-replica, if `scripts/replica.sh build` has made it.
enum ReplicaProgram {
    static let url = Programs.projectFolder.appending(path: ".build/replica/feed-replica")

    static let needed: ConditionTrait = .enabled("there is no .build/replica/feed-replica") {
        FileManager.default.isExecutableFile(atPath: url.path())
    }
}

/// That a machine without anything joins a cluster that serves, with the real programs.
@Suite(.serialized, .timeLimit(.minutes(5)), ReplicaProgram.needed) struct NewNodeTests {
    /// The files, the ports and the replica of one machine.
    private struct Machine {
        let name: String
        let data: String
        let settings: [String]
        let url: String
        let flags: [String]
        private let ports: [ReservedPort]

        init(_ name: String, in directory: String) throws {
            self.name = name
            let folder = "\(directory)/\(name)"
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true
            )
            ports = [try ReservedPort(), try ReservedPort()]
            data = "\(folder)/data"
            url = "http://127.0.0.1:\(ports[0].number)"
            let socket = "\(folder)/socket"
            settings = [
                "--dir", "\(folder)/log", "--name", name, "--listen", url, "--socket", socket,
                "--metrics", "",
            ]
            let address = "127.0.0.1:\(ports[1].number)"
            flags = [
                "--listen", address, "--replica", socket, "--advertise", address, "--state-hash",
            ]
        }

        var port: UInt16 { ports[1].number }

        func run() throws -> RunningProcess {
            try RunningProcess(ReplicaProgram.url, ["run"] + settings)
        }

        func serve() throws -> RunningProcess {
            try RunningProcess(Programs.feedService, ["--data-dir", data] + flags)
        }
    }

    /// Runs a program to its end; gives what it says.
    private func said(_ program: URL, _ arguments: [String]) async throws -> String {
        let (status, output) = try await RunningProcess(program, arguments).finish()
        let text = output.joined(separator: "\n")
        try #require(status == 0, "\(program.lastPathComponent) \(arguments): \(text)")
        return text
    }

    /// Makes a state with a post, and a cluster of it; gives the post.
    private func begin(_ machine: Machine) async throws -> PostID {
        let service = try await DurableService.start(machine.data)
        let id = try await service.createPost("first", votes: 1)
        #expect(await service.stop() == 0)
        let text = try await said(Programs.feedService, ["begin-cluster", machine.data])
        let last = try #require(text.firstMatch(of: /last index (\d+)/))
        let cluster = try #require(text.firstMatch(of: /cluster ([0-9a-f]{32})/))
        _ = try await said(
            ReplicaProgram.url,
            ["init", "--last-index", "\(last.1)", "--cluster", "\(cluster.1)"] + machine.settings
        )
        return id
    }

    @Test func aNodeWithoutAnythingGetsTheStateUnderLoad() async throws {
        let directory = try TemporaryDirectory()
        let first = try Machine("a", in: directory.path)
        let id = try await begin(first)
        let firstReplica = try first.run()
        defer { firstReplica.signal(9) }
        let leader = try first.serve()
        defer { leader.signal(9) }
        #expect(await leader.prints("leads the cluster"))
        #expect(await leader.prints("listening on"))
        let service = DurableService(process: leader, port: first.port)
        try await service.importHundreds(50)
        // Votes go on until the new node has the state.
        let isOver = Locked(false)
        let votes = Task {
            try await service.call { client in
                var count = 0
                while !isOver.withLock({ $0 }) {
                    _ = try client.vote(id)
                    count += 1
                }
                return count
            }
        }
        let second = try Machine("b", in: directory.path)
        let added = try await said(
            Programs.feedCtl,
            ["cluster", "add", "b", second.url, "--target", "127.0.0.1:\(first.port)", "--json"]
        )
        let token = try #require(added.firstMatch(of: /"token" ?: ?"([^"]+)"/))
        _ = try await said(ReplicaProgram.url, ["join", "\(token.1)"] + second.settings)
        let secondReplica = try second.run()
        defer { secondReplica.signal(9) }
        // It makes the directory, waits, takes the state, and is started again.
        let waiting = try second.serve()
        defer { waiting.signal(9) }
        #expect(await waiting.prints("has no state: waits for that of the cluster"))
        #expect(await waiting.exitStatus() == 75)
        let follower = try second.serve()
        defer { follower.signal(9) }
        #expect(await follower.prints("the state of the cluster at record"))
        #expect(await follower.prints("listening on"))
        isOver.withLock { $0 = true }
        #expect(try await votes.value > 0)
        let upvotes = try await service.upvotes(id)
        try await awaitUpvotes(upvotes, of: id, at: second.port)
        for process in [follower, leader] {
            process.signal(15)
            #expect(await process.exitStatus() == 0)
        }
        let hashes = [leader, follower].map { $0.output.last { $0.contains("state hash") } ?? "" }
        let digits = hashes.map { $0.firstMatch(of: /state hash ([0-9a-f]{16})/)?.1 }
        #expect(digits[0] != nil && digits[0] == digits[1], "\(hashes)")
    }

    /// Waits until a follower shows the votes of a post.
    private func awaitUpvotes(_ count: UInt64, of id: PostID, at port: UInt16) async throws {
        try await offload {
            let client = try WireClient(port: port)
            while true {
                let answer = try client.call(.getPost(GetPostRequest(id: id)))
                if case .post(let post) = answer.response, post.upvoteCount == count { return }
            }
        }
    }
}
