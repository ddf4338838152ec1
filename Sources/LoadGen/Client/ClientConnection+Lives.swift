import FeedConcurrency
import FeedTransport

/// How a connection is closed and opened again on purpose, as `--reconnect-every` and `--conn-life`
/// ask for.
extension ClientConnection {
    /// Draws the length of a life, which begins now.
    func beginLife() {
        let life = worker.setup.configuration.connectionLife
        remainingLife = life.requestCount ?? .max
        lifeEndNanoseconds =
            life.nextAge(&lives).map { MonotonicInstant.now.nanoseconds + $0 } ?? .max
    }

    /// Takes no more requests on this connection.
    func endLife() {
        guard stage == .open else { return }
        stage = .ending
    }

    /// Closes the connection, which has no request in flight.
    func closeToReopen() {
        stage = .reopening
        connection?.closeAfterFlush()
    }

    /// Opens the connection again after its end; the service sees a new one.
    func reopen() {
        connection = nil
        // A page continues only for the caller who began it.
        pageToken = []
        (headID, nextID, unwrittenID, unexpiredID) = (1, 1, 1, 1)
        window = PipelineWindow(depth: window.depth, mode: window.mode)
        worker.recorder.reopenedCount += 1
        connect()
    }
}
