internal import FeedProto
internal import FeedText

/// What went wrong, with one counter per cause.
package struct Failures: Sendable, Equatable {
    /// Causes on this side of the wire.
    package enum Cause: String, Sendable, CaseIterable {
        case tooManyOpenFiles = "EMFILE"
        case addressNotAvailable = "EADDRNOTAVAIL"
        case refused = "ECONNREFUSED"
        case reset = "ECONNRESET"
        case endOfFile = "EOF"
        case protocolError = "protocol error"
        case connectTimeout = "connect timeout"
        case requestTimeout = "request timeout"
        /// A request that could not be sent again: the service had forgotten its channel.
        case forgotten = "forgotten by the service"
        /// A connection that reached another state than the run began with.
        case stateGone = "state began anew"
        case other = "other"
    }

    /// How often each cause came.
    package internal(set) var causes: [Cause: UInt64] = [:]
    /// Errors that the service answered, by `CODE/REASON`.
    package internal(set) var serverErrors: [String: UInt64] = [:]
    /// The text of the first protocol error, which says what was due and what arrived.
    package internal(set) var firstProtocolError: String?

    /// No failure.
    package init() {}

    /// Counts one failure on this side.
    package mutating func count(_ cause: Cause) {
        causes[cause, default: 0] += 1
    }

    /// Counts an answer that breaks the protocol and keeps the first `text`.
    package mutating func countProtocolError(_ text: String) {
        count(.protocolError)
        firstProtocolError = firstProtocolError ?? VisibleText.line(text, atMost: Self.longestText)
    }

    /// Counts one error answer of the service, which `text` names.
    ///
    /// Control characters are escaped and long texts cut, as they would break the report's lines. After
    /// many texts the others are counted together, so that no service fills the memory.
    package mutating func countServerError(_ text: String) {
        var name = VisibleText.line(text, atMost: Self.longestText)
        if serverErrors[name] == nil, serverErrors.count >= Self.mostServerErrors {
            name = Self.otherServerErrors
        }
        serverErrors[name, default: 0] += 1
    }

    /// What to do about requests over a limit of the service's, which say nothing about its speed.
    static let limitHint = """
        RATE_LIMITED is a limit of feed-service: of posts, which --service-key-file lifts, or its \
        --max-posts-per-hour host=0,device=0,user=0; or of votes and calls, which its \
        --max-votes-per-second 0 and --max-calls-per-second 0 lift.
        """
    /// Whether the service has refused requests as too many in a time.
    var areRateLimited: Bool {
        serverErrors.keys.contains { $0.hasSuffix("/\(Reason.rateLimited)") }
    }

    private static let mostServerErrors = 100
    private static let longestText = 100
    private static let otherServerErrors = "other errors"

    /// Adds the failures of another thread.
    package mutating func add(_ other: Failures) {
        causes.merge(other.causes, uniquingKeysWith: +)
        serverErrors.merge(other.serverErrors, uniquingKeysWith: +)
        firstProtocolError = firstProtocolError ?? other.firstProtocolError
    }
}
