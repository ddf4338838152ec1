/// The service's state of a connection between two loop iterations.
struct Session {
    /// The requests that may be executed.
    var life = SessionLife()
    /// The caller.
    var caller: Caller
    /// The progress of the request that needs another loop iteration.
    var suspendedWork = SuspendedWork()
}
