import FeedClient
import FeedTransport

/// One of the services of a run that has several.
struct LoadService: Sendable {
    let endpoint: Endpoint
    let address: SocketAddress
    /// How a connection to it is secured; nil where it is plain.
    let security: TLSTarget?

    /// How long it may take to open a connection, as another one may serve meanwhile.
    static let patience = Duration.seconds(1)
}

/// How a connection finds the service that leads, among those that the run names.
///
/// The value does no input or output and reads no clock.
struct LeaderSearch {
    private let services: [LoadService]
    private var route: Route
    private var destination = Destination.same
    /// How many services of the try of now do not serve the connection.
    private var failedCount = 0
    /// The number of the service of now.
    private(set) var number = 0

    init(_ services: [LoadService]) {
        self.services = services
        route = Route(services.map(\.endpoint))
    }

    /// The service of the next attempt.
    mutating func next() -> LoadService {
        let endpoint = route.begin(at: destination, goingOn: failedCount > 0)
        destination = .same
        number = services.firstIndex { $0.endpoint == endpoint } ?? 0
        return services[number]
    }

    /// Lets the next attempt be at the leader, as a service has named it, or else at the next service.
    mutating func turn(to leader: String = "") {
        if !leader.isEmpty {
            destination = .leader(leader)
        } else if destination == .same {
            destination = .next
        }
    }

    /// The service of now does not serve; whether another one is to be asked at once, as each is before a
    /// pause.
    mutating func goesOn() -> Bool {
        turn()
        failedCount += 1
        guard failedCount >= services.count else { return true }
        failedCount = 0
        return false
    }

    mutating func found() { failedCount = 0 }
}
