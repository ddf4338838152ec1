internal import FeedConcurrency
internal import FeedTransport

/// When the loop serves the watches of its connections.
///
/// A timer runs while anybody watches. At each tick the connections become ready whose events are due.
/// The loop serves a portion of the ready ones in an iteration, so that votes do not wait for the events
/// of thousands of watches. A connection is due again an interval after it was served, or up to two
/// ticks after that, where that tick has many and a later one fewer: see ``WatchSchedule``.
extension ServiceLoop {
    /// The bytes of events after which the other connections wait for the next loop iteration.
    private static let portionByteCount = 32 << 10
    /// The posts that are looked at before the other connections wait: an eighth of a millisecond's worth.
    private static let portionWorkCount = 1_024

    /// Begins and cancels the watches that a connection has asked for in this loop iteration.
    func performWatchActions(for connection: ServerConnection) {
        guard !handler.watches.actions.isEmpty else { return }
        connection.performWatchActions()
        startWatchTimer()
        if !connection.watchSet.isEmpty { makeReady(connection) }
    }

    /// Serves a connection at an instant.
    func schedule(_ connection: ServerConnection, dueAt due: MonotonicInstant) {
        guard !connection.watchSet.isReady, watchTimer != nil else { return }
        let tick = watchSchedule.tick(forDue: due)
        if let served = connection.watchSet.servedTick, served <= tick { return }
        connection.watchSet.servedTick = tick
        watchSchedule.add(connection, in: tick)
    }

    private func startWatchTimer() {
        guard watchTimer == nil, handler.watches.count > 0 else { return }
        watchSchedule = WatchSchedule(at: eventLoop.now)
        do throws(TransportError) {
            watchTimer = try eventLoop.addTimer(every: WatchTick.interval) { [unowned self] in
                passWatchTick()
            }
        } catch {
            // The loop is stopping: its watches end with their connections.
            watchTimer = nil
        }
    }

    /// Ends the ticks: there are no watches any more.
    func stopWatchTimer() {
        watchTimer?.cancel()
        watchTimer = nil
        watchSchedule = WatchSchedule(at: eventLoop.now)
    }

    private func passWatchTick() {
        guard handler.watches.count > 0 else { return stopWatchTimer() }
        for (connection, tick) in watchSchedule.takeDue(at: eventLoop.now)
        where connection.watchSet.servedTick == tick {
            makeReady(connection)
        }
    }

    private func makeReady(_ connection: ServerConnection) {
        connection.watchSet.servedTick = nil
        guard !connection.watchSet.isReady else { return }
        connection.watchSet.isReady = true
        readyWatchers.append(connection)
        serveReadySoon()
    }

    private func serveReadySoon() {
        guard !servesReadySoon else { return }
        servesReadySoon = true
        eventLoop.putOff { [unowned self] in serveReady() }
    }

    /// Serves a portion of the connections that are ready.
    private func serveReady() {
        servesReadySoon = false
        var again: [ServerConnection] = []
        var byteCount = 0
        var workCount = 0
        for _ in 0..<WatchTick.portionConnectionCount
        where byteCount < Self.portionByteCount && workCount < Self.portionWorkCount {
            guard let connection = readyWatchers.popFirst() else { break }
            connection.watchSet.isReady = false
            let served = connection.serveWatches()
            byteCount += served.byteCount
            workCount += handler.watchEvents.takeWorkCount()
            if served.wantsIteration { again.append(connection) }
        }
        for connection in again { makeReady(connection) }
        if readyWatchers.isEmpty {
            handler.watchEvents.removeShared()
        } else {
            serveReadySoon()
        }
    }
}
