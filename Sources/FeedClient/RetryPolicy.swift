/// How often and how soon a client tries again; the defaults suit most programs.
///
/// The waits between tries are random between zero and a limit that doubles with each failed try
/// ("full jitter"), so that many clients that lost one service do not return together.
public struct RetryPolicy: Sendable, Hashable {
    /// How often one call is sent at most, the first time included; at least 1.
    ///
    /// Tries to connect are not counted: a call waits for a connection until its deadline.
    public var maximumAttemptCount = 4

    /// The limit of the first wait, in a time of at least 1 ms.
    public var baseDelay = Duration.milliseconds(50)

    /// The most that the limit of a wait grows to.
    ///
    /// A service that advises a longer wait is obeyed.
    public var maximumDelay = Duration.seconds(2)

    /// How many calls may be sent again for each call that is sent first: 0.1 is one in ten.
    ///
    /// It bounds the load that retries add to a service that refuses many calls.
    public var budgetRatio = 0.1

    /// How many calls may be sent again at once after a time without retries.
    ///
    /// The default covers all calls that one lost connection may have in flight.
    public var budgetBurst = 256

    /// The most failed connections in a row, none of which answered a call, before all calls end;
    /// by default each call ends at its own deadline.
    package var maximumRoundCount = Int.max

    /// A policy with the defaults.
    public init() {}

    /// The policy that sends every call once.
    public static var never: Self {
        var policy = Self()
        policy.maximumAttemptCount = 1
        return policy
    }
}
