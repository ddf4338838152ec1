/// What a call that failed did to the service's state.
public enum CallEffect: Sendable, Hashable {
    /// Nothing, for sure: it only reads, it never left, or the service says so; safe to send again.
    case none
    /// Nobody knows: it was sent and not answered, and may count if it is sent again.
    case unknown
}
