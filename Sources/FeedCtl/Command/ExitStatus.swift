internal import FeedClient

/// The meaning of the program's exit status.
enum ExitStatus: Int32 {
    /// The command succeeded.
    case success = 0
    /// The service refused, or could not be reached.
    case failed = 1
    /// The command line is wrong.
    case usage = 2
    /// The service has answered, and nothing of what was asked could be done, or a part was refused.
    case notDone = 3

    /// The exit status of a failed call.
    init(_ error: FeedClientError) {
        if case .badAddress = error { self = .usage } else { self = .failed }
    }
}

/// What was asked is not done, as the report that was printed says.
struct NotDone: Error {}
