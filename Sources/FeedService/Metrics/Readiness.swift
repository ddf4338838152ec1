internal import FeedState

extension ServiceContext {
    /// Why a load balancer should send no more clients here; empty where nothing speaks against it.
    ///
    /// Refusals that last a moment do not count: too much load, and commits or checkpoints that lag.
    var unreadyCauses: [String] {
        var causes: [String] = []
        if isDraining { causes.append("draining") }
        causes += stalls.overLimit.map(OperatorLines.stall)
        let jump = clock.jumpMilliseconds
        if jump != 0 { causes.append("the clock jumped by \(jump / 1000) s: changes are refused") }
        guard let state else { return causes }
        if !state.journal.isWritable {
            causes.append("read-only: \(state.journal.freeByteCount) bytes are free on the disk")
        }
        if state.checkpointThread.statistics.isStalled {
            causes.append("checkpoints are stalled: state.db finds no room")
        }
        return causes
    }
}
