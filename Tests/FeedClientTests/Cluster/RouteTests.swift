import FeedClient
import FeedProto
import FeedTransport
import Testing

/// Which service is tried next, by what the program and the services have named.
struct RouteTests {
    static let addresses = ["127.0.0.1:1", "127.0.0.1:2", "feed.test:3"]
    static let endpoints = addresses.compactMap { try? Endpoint(parsing: $0) }

    static func hello(role: NodeRole = .follower, _ members: [String] = []) -> HelloResponse {
        guard
            case .hello(let hello) = SessionHarness.hello(
                role: role,
                members: members.map { ClusterMember(address: $0) }
            )
        else { preconditionFailure("A Hello is one.") }
        return hello
    }

    static func endpoint(_ text: String) throws -> Endpoint { try Endpoint(parsing: text) }

    @Test func aTryBeginsAtTheLeaderThatWasNamed() {
        var route = Route(Self.endpoints)
        #expect(route.begin(at: .leader("feed.test:3")) == Self.endpoints[2])
        #expect(route.begin() == Self.endpoints[2])
        #expect(route.begin(at: .next) == Self.endpoints[0])
        #expect(route.begin(at: .leader("127.0.0.1:2")) == Self.endpoints[1])
        #expect(route.next() == Self.endpoints[2])
        #expect(route.next() == Self.endpoints[0])
        #expect(route.next() == nil)
    }

    @Test func aTryAsksNoServiceTwice() {
        var route = Route(Self.endpoints)
        #expect(route.begin() == Self.endpoints[0])
        #expect(route.begin(at: .leader("feed.test:3"), goingOn: true) == Self.endpoints[2])
        // The leader that was named is gone, and the first service was asked before.
        #expect(route.next() == Self.endpoints[1])
        #expect(route.begin(at: .leader("feed.test:3"), goingOn: true) == nil)
        #expect(route.next() == nil)
        #expect(route.begin(at: .leader("127.0.0.1:2")) == Self.endpoints[1])
        #expect(route.begin(at: .leader("127.0.0.1:1"), goingOn: true) == Self.endpoints[0])
    }

    @Test(
        "an address that a client cannot or does not want to use is as good as none",
        arguments: [
            "127.0.0.1:1", "127.0.0.1:9", "other.test:3", "", "nonsense", "127.0.0.1", "[::1", ":",
            "127.0.0.1:99999", "a\u{0}b:1", String(repeating: "x", count: 4_096) + ":1",
        ]
    )
    func ignoresOtherLeaders(_ address: String) {
        var route = Route(Self.endpoints)
        #expect(route.begin() == Self.endpoints[0])
        #expect(route.begin(at: .leader(address)) == Self.endpoints[1])
        #expect(route.count == 3)
    }

    @Test func membersOfTheClusterAreTriedToo() throws {
        var route = Route([Self.endpoints[0]])
        route.learn(Self.hello(["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:2", "", "x"]))
        #expect(route.count == 2)
        #expect(route.hasOthers)
        #expect(route.begin(at: .leader("127.0.0.1:2")) == Self.endpoints[1])
        // The next answer replaces them, and what the program has named stays.
        route.learn(Self.hello(["127.0.0.1:5"]))
        #expect(route.count == 2)
        #expect(route.begin() == Self.endpoints[0])
        #expect(try route.next() == Self.endpoint("127.0.0.1:5"))
        // A service that does not know them yet takes none away.
        route.learn(Self.hello())
        #expect(route.count == 2)
    }

    @Test func aProgramMayStayAtItsAddresses() {
        var route = Route(Self.endpoints)
        route.learn(Self.hello(["10.0.0.1:1"]), takesMembers: false)
        #expect(route.count == 3)
        #expect(route.hasOthers)
        #expect(route.begin(at: .leader("10.0.0.1:1")) == Self.endpoints[1])
    }

    @Test func aListOfMembersIsBounded() {
        var route = Route([Self.endpoints[0]])
        route.learn(Self.hello((1...5_000).map { "10.0.0.1:\($0)" }))
        #expect(route.count == 10)
        let long = String(repeating: "x", count: 4_096) + ":1"
        route.learn(Self.hello([String](repeating: long, count: 9)))
        #expect(route.count == 1)
    }

    @Test func aServiceWithoutAClusterChangesNothing() {
        var route = Route(Self.endpoints)
        route.learn(Self.hello(role: .unspecified, ["10.0.0.1:1"]))
        #expect(route.count == 3)
        #expect(!route.hasOthers)
        #expect(route.patience(within: .seconds(6), silence: .seconds(1)) == .seconds(2))
        route.learn(Self.hello(role: .leader))
        #expect(route.hasOthers)
        #expect(route.patience(within: .seconds(6), silence: .seconds(1)) == .seconds(1))
    }
}
