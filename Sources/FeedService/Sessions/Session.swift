/// The service's state of a connection between two loop iterations.
struct Session {
    /// The requests that may be executed.
    var life = SessionLife()
    /// The caller.
    var caller: Caller
    /// The last request that the limits of the caller's identity have counted: one that is passed again
    /// is counted once.
    var chargedID: UInt64 = 0
    /// The progress of the request that needs another loop iteration.
    var suspendedWork = SuspendedWork()
}
