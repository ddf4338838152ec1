internal import FeedConcurrency
internal import FeedTransport

/// The pauses of one connection, in which nothing is read from it: its client sends far more than its
/// identity may, and does not wait as it is told.
///
/// The refused of an identity are told to come back one after another. The longest time that one is told is
/// `RateBucket.longestRetryTime`. A client that was told so, and is told so again before that time, has not
/// waited.
struct ReadPause {
    /// How long a pause lasts: many requests are read at once then, and others wait little for them.
    ///
    /// With 100 ms the requests come in bursts, and the p99 of other clients was a third longer.
    static let time = Duration.milliseconds(10)

    /// What ends the pause; nil while there is none.
    var timer: LoopTimer?
    /// Until when the client was told to wait.
    private var toldTime: MonotonicInstant?

    /// Notes that a request was told the longest time; returns whether a pause begins.
    mutating func isDue(at now: MonotonicInstant) -> Bool {
        defer { toldTime = now.advanced(by: RateBucket.longestRetryTime) }
        guard timer == nil, let toldTime else { return false }
        return now < toldTime
    }
}
