import FeedProto
import Testing

@Suite struct ContractTests {
    /// A decoder's stack must not depend on what a frame says.
    @Test func noMessageIsRecursive() throws {
        let (contract, _) = try Contract.published()
        #expect(contract.messages.count > 35)
        #expect(contract.fields.count > 120)
        #expect(contract.recursiveMessages == [])
    }

    /// The control of the above.
    @Test func recursionIsSeen() {
        let contract = Contract(
            """
            message A {
              uint64 id = 1;
              repeated B bs = 2;
            }
            message B {
              oneof body {
                C c = 1;  // through another
              }
            }
            message C {
              B b = 1;
            }
            """
        )
        #expect(contract.recursiveMessages == ["B", "C"])
    }

    @Test func noEnumValueNameRepeats() throws {
        let (contract, _) = try Contract.published()
        let names = contract.enums.values.joined()
        #expect(names.count == Set(names).count)
    }

    @Test func enumsHaveTheContractsNames() throws {
        let (contract, _) = try Contract.published()
        let names: [String: [String]] = [
            "Code": StatusCode.names,
            "Capability": Capability.names,
            "ServingStatus": ServingStatus.names,
            "Order": Order.names,
            "PostField": PostField.names,
            "VoteDirection": VoteDirection.names,
            "VoteMode": VoteMode.names,
            "Voters": Voters.names,
            "Window": Window.names,
            "Consistency": Consistency.names,
            "Mark": Mark.names,
            "NodeRole": NodeRole.names,
            "UserChange": UserChange.names,
        ]
        #expect(contract.enums == names)
    }

    @Test func usesNothingThatTheGeneratorLacks() throws {
        let (_, source) = try Contract.published()
        let words = source.split(separator: "\n").flatMap { line in
            line.prefix { $0 != "/" }.split(whereSeparator: { " <;".contains($0) })
        }
        for word in ["optional", "map", "import", "group", "extend", "option", "required"] {
            #expect(!words.contains(Substring(word)), "\(word)")
        }
    }
}

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
            ClientFrame(id: 7, request: .castVote(vote), actingUserID: .ofService(7)),
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
        #expect(calls.count == 39)
        for call in calls {
            #expect(lines.contains { $0.hasPrefix("| `\(call.name)` |") }, "\(call.name)")
        }
    }
}
