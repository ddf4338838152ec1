internal import FeedConcurrency
internal import FeedProto

/// The watches of connections, whose events the handler encodes among its answers.
extension RequestHandler {
    /// Does what the WatchPosts and Cancel of this loop iteration have asked for.
    mutating func performWatchActions(on set: inout WatchSet, for caller: Caller) {
        let actions = watches.actions
        watches.actions = []
        for action in actions {
            switch action {
            case .begin(let watch):
                guard let status = begin(watch, in: &set) else { continue }
                answers.refuse(watch.id, .watchPosts, status)
                environment.log.refused(.watchPosts, status.reason.rawValue, from: caller.host)
            case .cancel(let id):
                guard let place = set.watches.firstIndex(where: { $0.id == id }) else { continue }
                endWatch(at: place, of: &set, .watchCancelled)
            }
        }
    }

    /// Forgets what they have asked for: the connection closes.
    mutating func dropWatchActions() {
        for case .begin(let watch) in watches.actions { watches.drop(watch) }
        watches.actions = []
    }

    /// Begins a watch; returns why it is refused, if it is.
    private mutating func begin(_ watch: Watch, in set: inout WatchSet) -> Status? {
        let limits = environment.context.limits
        guard set.watches.count < limits.maximumWatchesPerConnection else {
            watches.drop(watch)
            return .tooManyWatches(ofConnection: limits.maximumWatchesPerConnection)
        }
        do throws(WatchAdmission.Refusal) {
            try watches.begin(watch)
            set.watches.append(watch)
            return nil
        } catch {
            return .tooManyWatches(error, ofService: limits.maximumWatchCount)
        }
    }

    /// Ends all watches of a connection; the client is told why, where there is a status.
    mutating func endWatches(of set: inout WatchSet, _ status: Status?) {
        for watch in set.watches {
            if let status { answers.refuse(watch.id, status) }
            watches.end(watch)
        }
        set.watches = []
    }

    private mutating func endWatch(at place: Int, of set: inout WatchSet, _ status: Status) {
        let watch = set.watches.remove(at: place)
        answers.refuse(watch.id, status)
        watches.end(watch)
    }

    /// Encodes the events of a connection's watches that are due, in the room of the connection's host.
    ///
    /// - Parameters:
    ///   - set: The watches.
    ///   - caller: The connection's caller.
    ///   - byteLimit: The encoded bytes after which the others wait.
    ///   - now: The time of the loop.
    /// - Returns: Whether an event waits that is to be asked for in the next loop iteration.
    mutating func appendEvents(
        of set: inout WatchSet,
        for caller: borrowing Caller,
        byteLimit: Int,
        at now: MonotonicInstant
    ) -> Bool {
        var wantsIteration = false
        var place = 0
        while place < set.watches.count {
            guard set.watches[place].due <= now else {
                place += 1
                continue
            }
            guard answers.byteCount < byteLimit else { return true }
            switch appendEvent(of: &set.watches[place], for: caller, at: now) {
            case .done: set.watches[place].due = now.advanced(by: set.watches[place].interval)
            case .noRoom: set.watches[place].due = now.advanced(by: WatchSet.retryInterval)
            case .again: wantsIteration = true
            case .failed(let status):
                endWatch(at: place, of: &set, status)
                continue
            }
            place += 1
        }
        answers.room.shrink(to: answers.byteCount)
        return wantsIteration
    }

    private mutating func appendEvent(
        of watch: inout Watch,
        for caller: borrowing Caller,
        at now: MonotonicInstant
    ) -> WatchEvents.EventProgress {
        switch watch.owner {
        case .user(let id) where caller.userID != id: .failed(.watchOfFormerUser)
        case .service where !caller.isService: .failed(.serviceOnly)
        case .everyone, .user, .service:
            watchEvents.append(&watch, in: WatchTick.number(of: now), to: &answers)
        }
    }
}
