internal import FeedClient

/// What the exit status of the program says.
enum ExitStatus: Int32 {
    /// It was done.
    case success = 0
    /// The service refused, or could not be reached.
    case failed = 1
    /// The command line is wrong.
    case usage = 2

    /// What a failed call means for the exit status.
    init(_ error: FeedClientError) {
        if case .badAddress = error { self = .usage } else { self = .failed }
    }
}
