package import FeedTransport

/// What kept the service from starting, as one sentence for whoever started it.
package enum ServiceStartError: Error, CustomStringConvertible {
    /// A flag's value is outside of what it takes.
    case badFlag(String, String)
    /// An address could not be listened on, or a loop not be made.
    case transport(TransportError)

    package var description: String {
        switch self {
        case .badFlag(let flag, let problem): "\(flag): \(problem)"
        case .transport(let error): "\(error)"
        }
    }
}
