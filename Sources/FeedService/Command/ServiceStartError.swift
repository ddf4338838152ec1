package import FeedState
package import FeedTransport

/// What kept the service from starting, as one sentence for whoever started it.
package enum ServiceStartError: Error, CustomStringConvertible {
    /// A flag's value is outside of what it takes.
    case badFlag(String, String)
    /// An address could not be listened on, or a loop not be made.
    case transport(TransportError)
    /// The data directory could not be used.
    case state(StateStartError)
    /// The journal, replayed from its first record, comes to another state than the database.
    case differs(String)

    /// The exit status for a flag that is not understood or out of range.
    static let badFlagStatus: Int32 = 2

    /// What the process exits with.
    var exitStatus: Int32 {
        switch self {
        case .badFlag: Self.badFlagStatus
        case .transport: 1
        case .state(let error): error.exitStatus
        case .differs: 5
        }
    }

    package var description: String {
        switch self {
        case .badFlag(let flag, let problem): "\(flag): \(problem)"
        case .transport(let error): "\(error)"
        case .state(let error): "\(error)"
        case .differs(let path): "The journal of \(path) comes to another state than its database."
        }
    }
}
