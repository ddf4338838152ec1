package import FeedNetwork
package import FeedProto

/// Where the next try to connect begins.
package enum Destination: Equatable, Sendable {
    /// At the service that the try before has reached, as it remembers the client's channel.
    case same
    /// At the service after it.
    case next
    /// At the leader of the cluster, by the address that a service has named; at the service after the one of
    /// now if the client does not know that address.
    case leader(String)
}

/// The services that a client may connect to, in the order in which it tries them.
///
/// They are those that the program has named, and those that the last Hello has named as members of the
/// cluster. What a service says of its leader chooses among them, and never adds one.
package struct Route {
    /// How many members of a cluster are looked at; the rest of a longer list is ignored.
    static let mostMembers = 9
    /// The longest address: a name of 253 bytes, a colon and a port.
    private static let mostAddressBytes = 259

    private var endpoints: [Endpoint]
    private let configuredCount: Int
    private var place = 0
    /// The places that were tried in the try of now.
    private var tried: Set<Int> = []
    /// Whether a service has said that it is one of a cluster.
    private var isCluster = false

    package init(_ endpoints: [Endpoint]) {
        precondition(!endpoints.isEmpty, "A client has a service to connect to.")
        self.endpoints = endpoints
        configuredCount = endpoints.count
    }

    package var count: Int { endpoints.count }

    /// Whether another service may take the place of one that is silent.
    package var hasOthers: Bool { isCluster && count > 1 }

    /// The first service of a try, or of the rest of one that goes on; nil if that has tried all: it tries
    /// none twice.
    package mutating func begin(
        at destination: Destination = .same,
        goingOn: Bool = false
    ) -> Endpoint? {
        if !goingOn { tried = [] }
        guard tried.count < endpoints.count else { return nil }
        switch destination {
        case .same: break
        case .next: moveOn()
        case .leader(let address):
            // A service that names itself in place of another one does not lead.
            if let leader = find(address), leader != place, !tried.contains(leader) {
                place = leader
            } else {
                moveOn()
            }
        }
        tried.insert(place)
        return endpoints[place]
    }

    /// The service after one that did not answer; nil after all of them.
    package mutating func next() -> Endpoint? {
        moveOn()
        return tried.insert(place).inserted ? endpoints[place] : nil
    }

    /// Goes to the next service that was not tried, or to the next one if each was.
    private mutating func moveOn() {
        for _ in endpoints.indices {
            avoid()
            if !tried.contains(place) { return }
        }
        avoid()
    }

    private mutating func avoid() { place = (place + 1) % endpoints.count }

    /// How long one service of a try may take to open a connection, or to answer its Hello.
    package func patience(within timeout: Duration, silence: Duration) -> Duration {
        let share = timeout / count
        return hasOthers ? min(share, silence) : share
    }

    /// Takes over what a service says of its cluster, without its members if that is wanted; nothing if it
    /// has none.
    package mutating func learn(_ hello: HelloResponse, takesMembers: Bool = true) {
        guard hello.role != .unspecified else { return }
        isCluster = true
        guard takesMembers, !hello.members.isEmpty else { return }
        let current = endpoints[place]
        endpoints.removeSubrange(configuredCount...)
        for member in hello.members.prefix(Self.mostMembers) {
            guard let endpoint = Self.endpoint(member.address), !endpoints.contains(endpoint)
            else { continue }
            endpoints.append(endpoint)
        }
        place = endpoints.firstIndex(of: current) ?? 0
        tried = tried.filter { $0 < configuredCount }
        tried.insert(place)
    }

    private func find(_ address: String) -> Int? {
        Self.endpoint(address).flatMap { endpoints.firstIndex(of: $0) }
    }

    private static func endpoint(_ address: String) -> Endpoint? {
        guard address.utf8.count <= mostAddressBytes else { return nil }
        return try? Endpoint(parsing: address)
    }
}
