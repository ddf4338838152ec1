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
