package import FeedState
package import FeedTransport

/// Why the service does not start, as one sentence for the operator.
package enum ServiceStartError: Error, CustomStringConvertible {
    /// A flag's value is outside of what it takes.
    case badFlag(String, String)
    /// The files that the process may open do not suffice for one connection.
    case tooFewOpenFiles(OpenFileBudget, wanted: Int)
    /// An address could not be listened on, or a loop not be made.
    case transport(TransportError)
    /// The data directory is refused, in the words for its operator.
    case refused(StartRefusal)
    /// A backup could not be restored.
    case state(StateStartError)
    /// The journal, replayed from its first record, comes to another state than the database.
    case differs(String)

    /// The exit status for a flag that is not understood or out of range.
    static let badFlagStatus: Int32 = 2

    /// What the process exits with.
    var exitStatus: Int32 {
        switch self {
        case .badFlag, .tooFewOpenFiles: Self.badFlagStatus
        case .transport: 1
        case .refused(let refusal): refusal.exitStatus
        case .state(let error): error.exitStatus
        case .differs: 5
        }
    }

    package var description: String {
        switch self {
        case .badFlag(let flag, let problem): "\(flag): \(problem)"
        case .tooFewOpenFiles(let files, let wanted):
            "The limit of open files is \(files.limit), and with --threads \(files.threadCount) the "
                + "service needs \(files.reservedCount + 1) to serve one connection: raise the limit "
                + "with `ulimit -n \(files.reservedCount + wanted)`, which is enough for \(wanted) "
                + "connections."
        case .transport(let error): "\(error)"
        case .refused(let refusal): "\(refusal)"
        case .state(let error): "\(error)"
        case .differs(let path): "The journal of \(path) comes to another state than its database."
        }
    }
}
