/// The stretch of a request's life that a latency covers.
package enum Measure: Int, Sendable, CaseIterable {
    /// From sent to answered: the time that the service took.
    case service
    /// From the intended start to answered: the time that a user waits. In a closed loop it equals
    /// `service`.
    case response
    /// From the intended start to sent: the delay of the generator.
    case slip

    /// The name in reports.
    package var name: String {
        switch self {
        case .service: "service"
        case .response: "response"
        case .slip: "generator slip"
        }
    }
}
