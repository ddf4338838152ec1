/// Which stretch of a request's life a latency is of.
package enum Measure: Int, Sendable, CaseIterable {
    /// From sent to answered: what the service took.
    case service
    /// From the intended start to answered: what a user waits. Closed loop: the same as `service`.
    case response
    /// From the intended start to sent: what the generator was late.
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
