/// What a call that failed did to the service's state.
public enum CallEffect: Sendable, Hashable {
    /// Certainly nothing: the call only reads, never left, or the service says so. It is safe to
    /// send again.
    case none
    /// Unknown: the call was sent and not answered, and may count again if it is sent again.
    case unknown
}
