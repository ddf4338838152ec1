import FeedProto
import Testing

/// The bytes that docs/PROTOCOL.md shows are what it says they are.
@Suite struct ProtocolDocumentTests {
    /// The bytes of a block: hexadecimal, up to the remark on their line.
    private func dump(_ name: String) throws -> [UInt8] {
        let document = try Contract.repositoryFile("docs/PROTOCOL.md")
        let lines = document.split(separator: "\n")
        let block = lines.drop { $0 != "```hex \(name)" }.dropFirst().prefix { $0 != "```" }
        return block.flatMap { line in
            line.prefix { $0 != "#" }.split(separator: " ").compactMap { UInt8($0, radix: 16) }
        }
    }

    private func body(_ bytes: [UInt8]) throws -> [UInt8] {
        let range = try #require(try FrameScanner().nextBody(in: bytes.span, at: 0))
        #expect(range == 4..<bytes.count)
        return Array(bytes[range])
    }

    @Test func showsCall() throws {
        let call = ClientFrame(
            id: 7,
            request: .castVote(CastVoteRequest(postID: 300, direction: .up)),
            timeoutMilliseconds: 250
        )
        try expect(call, is: "call")
    }

    @Test func showsAnswer() throws {
        let counts = CastVoteResponse(postID: 300, score: -2, upvoteCount: 3, downvoteCount: 5)
        let answer = ServerFrame(id: 7, revision: 1000, response: .castVote(counts))
        let bytes = try dump("answer")
        var decoder = MessageDecoder()
        #expect(try decoder.decodeServerFrame(body(bytes)) == answer)
        #expect(try answer.encoded() == bytes)
    }

    @Test func showsHello() throws {
        let hello = HelloRequest(clientID: Array(0..<16), channel: 3)
        try expect(ClientFrame(id: 1, request: .hello(hello)), is: "hello")
    }

    @Test func showsVoteForAUser() throws {
        let vote = CastVoteRequest(postID: 300, direction: .up)
        try expect(
            ClientFrame(id: 7, request: .castVote(vote), actingUserID: 1 << 63 | 7),
            is: "acting"
        )
    }

    private func expect(_ call: ClientFrame, is name: String) throws {
        let bytes = try dump(name)
        var decoder = MessageDecoder()
        #expect(try decoder.decodeClientFrame(body(bytes)) == call)
        #expect(try call.encoded() == bytes)
    }

    @Test func namesEveryCall() throws {
        let document = try Contract.repositoryFile("docs/PROTOCOL.md")
        let (contract, _) = try Contract.published()
        let calls = contract.fields.filter {
            $0.message == "ClientFrame" && $0.type.first?.isUppercase == true
        }
        let lines = document.split(separator: "\n")
        #expect(calls.count == 28)
        for call in calls {
            #expect(lines.contains { $0.hasPrefix("| `\(call.name)` |") }, "\(call.name)")
        }
    }
}
