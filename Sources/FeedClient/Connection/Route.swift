package import FeedTransport

/// The services that a client may connect to, in the order in which it tries them.
///
/// Each try begins with the one that the try before has reached, as the service there remembers the
/// client's channel.
package struct Route {
    private let endpoints: [Endpoint]
    private var place = 0
    private var triedCount = 0

    /// A route with at least one service.
    package init(_ endpoints: [Endpoint]) {
        precondition(!endpoints.isEmpty, "A client has a service to connect to.")
        self.endpoints = endpoints
    }

    /// How many services there are.
    package var count: Int { endpoints.count }

    /// The first service of a try.
    package mutating func begin() -> Endpoint {
        triedCount = 1
        return endpoints[place]
    }

    /// The service after one that did not answer; nil after all of them.
    package mutating func next() -> Endpoint? {
        avoid()
        guard triedCount < endpoints.count else { return nil }
        triedCount += 1
        return endpoints[place]
    }

    /// Lets the next try begin with the next service.
    package mutating func avoid() {
        place = (place + 1) % endpoints.count
    }
}
