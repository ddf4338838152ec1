import GRPCCore
import GRPCNIOTransportHTTP2Posix
import Glibc
import Synchronization

/// A server whose votes change an array: no service on gRPC does less.
final class VoteServer: Sendable {
    private let scores = Mutex([UInt64](repeating: 0, count: Load.postCount))

    /// Serves until the process ends; prints its address first.
    func run() async throws {
        let transport = HTTP2ServerTransport.Posix(
            address: .ipv4(host: "127.0.0.1", port: 0),
            transportSecurity: .plaintext
        )
        var router = RPCRouter<HTTP2ServerTransport.Posix>()
        router.registerHandler(
            forMethod: castVote,
            deserializer: Coding<VoteRequest>(),
            serializer: Coding<VoteResponse>()
        ) { request, _ in
            let vote = try await ServerRequest(stream: request).message
            return StreamingServerResponse(single: ServerResponse(message: try self.cast(vote)))
        }
        let server = GRPCServer(transport: transport, router: router)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await server.serve() }
            let address = try await transport.listeningAddress
            print("listening on 127.0.0.1:\(address.ipv4?.port ?? 0)")
            fflush(nil)
        }
    }

    private func cast(_ vote: VoteRequest) throws -> VoteResponse {
        guard (1...UInt64(Load.postCount)).contains(vote.postID), vote.direction == 1 else {
            throw RPCError(code: .notFound, message: "There is no post \(vote.postID).")
        }
        let place = Int(vote.postID) - 1
        let count = scores.withLock { scores in
            scores[place] += 1
            return scores[place]
        }
        return VoteResponse(postID: vote.postID, upvoteCount: count)
    }
}
