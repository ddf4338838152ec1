package import FeedConcurrency
package import FeedState
package import FeedTransport

/// The reason why the service does not start, as one sentence for the operator.
package enum ServiceStartError: Error, CustomStringConvertible {
    case badFlag(String, String)
    case tooFewOpenFiles(OpenFileBudget, wanted: Int)
    case transport(TransportError)
    case thread(ThreadStartError)
    /// The data directory is refused, with a text for its operator.
    case refused(StartRefusal)
    /// A backup could not be restored.
    case state(StateStartError)
    /// A replay of the whole journal gives another state than the database has.
    case differs(String)

    /// The exit status for a flag that is not understood or out of range.
    static let badFlagStatus: Int32 = 2

    var exitStatus: Int32 {
        switch self {
        case .badFlag, .tooFewOpenFiles: Self.badFlagStatus
        case .transport, .thread: 1
        case .refused(let refusal): refusal.exitStatus
        case .state(let error): error.exitStatus
        case .differs: 5
        }
    }

    /// Runs a step of a start that the transport may refuse.
    static func ofTransport<Value>(
        _ body: () throws(TransportError) -> Value
    ) throws(ServiceStartError) -> Value {
        do throws(TransportError) {
            return try body()
        } catch {
            throw .transport(error)
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
        case .thread(let error): "\(error)"
        case .refused(let refusal): "\(refusal)"
        case .state(let error): "\(error)"
        case .differs(let path): "The journal of \(path) gives another state than its database."
        }
    }
}
