internal import FeedConcurrency

/// The limits of the requests that one connection has executed in one loop iteration.
struct IterationLimits {
    /// How many frames may still be executed.
    var frameCount: Int
    /// The bytes of answers at which nothing more is executed; without room if not positive.
    let answerByteCount: Int
    /// How long the first request has waited for its loop iteration; nil is not at all.
    let waited: Duration?
    /// The time of the loop.
    let now: MonotonicInstant
}
