import FeedProto
import FeedTransport

package enum RunFailure: Error, Equatable, CustomStringConvertible {
    case badTarget(flag: String, String)
    case system(String)
    case tooFewDescriptors(needed: Int, limit: Int)
    case unreachable(target: String, cause: String)
    case noRedis(target: String, cause: String)
    /// A command to redis-server has no reply of use; the cause is the server's own text where it has one.
    case redis(step: String, cause: String)
    case noConnection(target: String, cause: String)
    case noFeed(String)
    case cannotCreateFeed(String, cause: String)
    case ballotFeed(String)
    case tallyFeed(String)
    case badFile(String, String)
    case badFormat(String)
    case feedNotEmpty(String, postCount: UInt64)
    case noPosts(String?)
    case tooManyVotes(UInt64, limit: UInt64)
    case restartFailed(String, String)
    case refused(step: String, cause: String)
    case noExactlyOnce
    case shortSequenceWindow(UInt32, pipeline: Int)
    case smallBatchLimit(UInt32, batch: Int)
    case badRecord(String, String)
    case otherLoad(String, flag: String, baseline: String, given: String)
    case unreachableAgain(step: String, cause: String)
    case connectionLost(step: String)
    case interrupted

    package var description: String {
        switch self {
        case .badTarget(let flag, let text): "\(flag): \(text)"
        case .system(let text): text
        case .tooFewDescriptors(let needed, let limit):
            """
            The run needs \(needed) open files and the limit is \(limit): run `ulimit -n \(needed)` \
            in this shell first, or use fewer --clients.
            """
        case .unreachable(let target, let cause):
            "No service can be reached at \(target): \(cause)"
        case .noRedis(let target, let cause):
            "No redis-server can be reached at \(target): \(cause)"
        case .redis(let step, let cause): "redis-server, while \(step): \(cause)"
        case .noConnection(let target, let cause):
            "No connection of the load could be opened to \(target): \(cause)."
        case .noFeed(let feed): "--feed: the service has no feed \"\(feed)\"."
        case .cannotCreateFeed(let feed, let cause):
            """
            The feed \"\(feed)\" of this run is missing and cannot be created: \(cause) Show the key of a \
            service (--service-key-file), create it (feedctl create-feed), or name another one (--feed).
            """
        case .ballotFeed(let feed):
            """
            --feed: in \"\(feed)\" a vote replaces the voter's last one (BALLOT), so votes do not add \
            up to a score that could be audited; use a TALLY feed.
            """
        case .tallyFeed(let feed):
            """
            --voters: in \"\(feed)\" votes add up (TALLY), so a user has no ballot to change; use a \
            BALLOT feed.
            """
        case .badFile(let path, let cause): "\(path): \(cause)"
        case .badFormat(let cause): cause
        case .feedNotEmpty(let feed, let postCount):
            """
            The feed \"\(feed)\" has posts already (\(postCount)), and the audit needs it for the \
            file's alone: start the service with a new data directory, or rename the file.
            """
        case .noPosts(nil): "The files have no posts."
        case .noPosts(let first?): "Every post of the files is left out. The first: \(first)"
        case .tooManyVotes(let count, let limit):
            "The files have \(count) votes, repetitions included; the limit is \(limit)."
        case .restartFailed(let command, let cause): "--restart-cmd: \"\(command)\": \(cause)."
        case .refused(let step, let cause): "The service refused while \(step): \(cause)"
        case .noExactlyOnce:
            """
            --retry: the service does not offer EXACTLY_ONCE, so a vote sent again might count twice; \
            run without --retry.
            """
        case .shortSequenceWindow(let window, let pipeline):
            """
            --retry: the service remembers \(window) sequences a connection and the pipeline has \
            \(pipeline) requests; use --pipeline \(window) or less.
            """
        case .smallBatchLimit(let limit, let batch):
            """
            --batch: the service takes at most \(limit) votes in a batch, got \(batch); use --batch \
            \(limit) or less.
            """
        case .badRecord(let path, let cause): "--verify-only: \(path): \(cause)"
        case .otherLoad(let path, let flag, let baseline, let given):
            """
            --compare: \(path) is of a run with \(flag) \(baseline), and this run has \(given); only \
            runs of the same load are compared.
            """
        case .unreachableAgain(let step, let cause):
            "The service ended the connection while \(step), and cannot be reached again: \(cause)"
        case .connectionLost(let step): "The service ended the connection while \(step)."
        case .interrupted: "Stopped by a signal before the load began."
        }
    }

    /// Whether nothing answered at the target, as of a server that is starting.
    var isUnreachable: Bool {
        switch self {
        case .unreachable, .noRedis: true
        default: false
        }
    }

    /// The exit code: flags that do not fit the service count as wrong flags.
    package var exitStatus: ExitStatus {
        switch self {
        case .badTarget, .noFeed, .ballotFeed, .tallyFeed, .badFile, .badFormat, .feedNotEmpty,
            .noPosts,
            .tooManyVotes, .badRecord, .otherLoad:
            .usage
        default: .failed
        }
    }
}

package enum ExitStatus: Int32, Sendable {
    /// The run went through and everything asked of it holds.
    case success = 0
    /// The run could not start, or lost connections.
    case failed = 1
    case usage = 2
    /// The audit, or the generator's own count of outcomes, does not add up.
    case auditFailed = 3
    /// The figures are not to be trusted: a self-check failed or, with `--strict`, the figures of the run
    /// cannot be compared with another run's.
    case invalid = 4
    /// The run was slower than the one that `--compare` names.
    case regression = 5
    /// A service level asked for with `--slo` was missed.
    case sloMissed = 99
}
