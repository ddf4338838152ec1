internal import DequeModule
internal import FeedConcurrency
package import FeedProto

/// The watches of a client over its connections, each from its begin to its end.
///
/// ```
///             ┌─── connection lost, service drains, session changed ───┐
///             ▼                                                        │
/// begin ─► waiting ───────────── WatchPosts leaves ─────────────► begun ─► ended
///             ▲                                                        │
///             └────────── delayed ◄────────── refused for now ─────────┘
/// ```
///
/// A watch takes no place among the calls in flight. It has one state for its reader at most: the newest.
/// The value does no I/O.
package struct WatchTable {
    /// What the driver does for a watch.
    package enum Step {
        case show(watch: UInt64, WatchCopy)
        /// Tell a watch why it has ended.
        case end(watch: UInt64, FeedClientError)
        case begin(id: UInt64, WatchPostsRequest, actingUserID: UserID)
        case cancel(id: UInt64, watchID: UInt64)
    }

    /// What the next event of a begun watch is.
    private enum Progress {
        /// The first one: everything.
        case anew
        /// The first one: what has changed since an earlier event.
        case resumed
        /// A later one.
        case following
    }

    private enum Phase {
        /// WatchPosts leaves with the next connection, or at once.
        case waiting
        /// The same, but not before an instant.
        case delayed(until: MonotonicInstant)
        /// The service has WatchPosts, as the frame `id`.
        case begun(id: UInt64, Progress)
    }

    private struct Watch {
        let request: WatchPostsRequest
        let actingUserID: UserID
        var copy: WatchCopy
        var phase = Phase.waiting
        /// Whether the events so far count no more, until the first one of the watch that begins anew.
        var beginsAnew = false
        /// How often it was refused since its last event.
        var refusalCount = 0
    }

    /// What a frame from the service is.
    enum Owner {
        /// The event or the end of a watch.
        case watch(UInt64)
        /// Something of a watch that its reader, or the client, has given up.
        case formerWatch
        case nobody
    }

    private var watches: [UInt64: Watch] = [:]
    /// The watches of the frames of this connection.
    private var begun: [UInt64: UInt64] = [:]
    /// The frames of watches that were given up, and whose last frame has not come.
    private var former: Set<UInt64> = []
    private var cancels = Deque<UInt64>()
    /// The watches that leave, in order.
    private var waiting = Deque<UInt64>()
    /// What readers have not got yet.
    private var reports = Deque<Step>()

    /// Whether a watch needs a connection now.
    var hasWaiting: Bool { !waiting.isEmpty }
    var hasFrames: Bool { !waiting.isEmpty || !cancels.isEmpty }
    var count: Int { watches.count }

    mutating func begin(_ token: UInt64, _ request: WatchPostsRequest, actingUserID: UserID) {
        watches[token] = Watch(
            request: request,
            actingUserID: actingUserID,
            copy: WatchCopy(of: request)
        )
        waiting.append(token)
    }

    /// Ends a watch that its reader gave up; nothing if it has ended.
    mutating func cancel(_ token: UInt64) {
        leave(token)
        watches[token] = nil
        reports.removeAll { $0.reported == token }
    }

    /// Ends a watch, whose reader is told why after its newest state.
    mutating func end(_ token: UInt64, _ error: FeedClientError) {
        leave(token)
        watches[token] = nil
        reports.append(.end(watch: token, error))
    }

    mutating func endAll(_ error: FeedClientError) {
        for token in tokens { end(token, error) }
    }

    /// Begins all watches anew, as they are somebody else's now.
    mutating func beginAllAnew() {
        for token in tokens { beginAnew(token) }
    }

    /// Begins a watch anew; what it has is shown until the service has answered.
    private mutating func beginAnew(_ token: UInt64) {
        watches[token]?.beginsAnew = true
        guard case .begun = watches[token]?.phase else { return }
        leave(token)
        wait(token)
    }

    mutating func nextReport() -> Step? { reports.popFirst() }

    /// The next frame to send, which gets an id; there is one while ``hasFrames``.
    mutating func nextFrame(_ id: UInt64) -> Step? {
        if let watchID = cancels.popFirst() { return .cancel(id: id, watchID: watchID) }
        guard let token = waiting.popFirst(), var watch = watches[token] else { return nil }
        var request = watch.request
        let resumes = watch.copy.isResumable && !watch.beginsAnew
        if resumes { request.sinceRevision = watch.copy.revision }
        watch.phase = .begun(id: id, resumes ? .resumed : .anew)
        watches[token] = watch
        begun[id] = token
        return .begin(id: id, request, actingUserID: watch.actingUserID)
    }

    /// The frame of a watch could not be sent: the watch ends, and there is nothing to cancel.
    mutating func couldNotBegin(_ id: UInt64, _ error: FeedClientError) {
        guard let token = begun[id] else { return }
        remove(token)
        end(token, error)
    }

    func owner(of id: UInt64) -> Owner {
        if let token = begun[id] { return .watch(token) }
        return former.contains(id) ? .formerWatch : .nobody
    }

    /// The last frame of a watch that was given up.
    mutating func forgetFormer(_ id: UInt64) { former.remove(id) }

    /// Applies an event.
    ///
    /// A resumed list may name posts that came into it without a change of their own. The watch then begins
    /// anew, which brings them, and its reader sees nothing of what lies between.
    mutating func apply(_ event: WatchPostsEvent, revision: UInt64, to token: UInt64) {
        guard var watch = watches[token], case .begun(let id, let progress) = watch.phase else {
            preconditionFailure("An event came for a watch that had not begun.")
        }
        let isFirst: Bool
        switch progress {
        case .anew, .resumed: isFirst = true
        case .following: isFirst = false
        }
        var copy = watch.copy
        copy.apply(event, revision: revision, isFirst: isFirst)
        if case .resumed = progress, !copy.isWhole { return beginAnew(token) }
        watch.copy = copy
        watch.beginsAnew = false
        watch.refusalCount = 0
        watch.phase = .begun(id: id, .following)
        watches[token] = watch
        show(token, copy)
    }

    /// The service has ended a watch: it begins again with the next connection.
    mutating func beginAgain(_ token: UInt64) {
        remove(token)
        wait(token)
    }

    /// The service has refused a watch for now; the result is how often in a row.
    func refusalCount(of token: UInt64) -> Int { watches[token]?.refusalCount ?? 0 }

    /// The service has refused a watch for now: it begins again at an instant.
    mutating func delay(_ token: UInt64, until due: MonotonicInstant) {
        remove(token)
        watches[token]?.refusalCount += 1
        watches[token]?.phase = .delayed(until: due)
    }

    /// The service has ended a watch, so there is nothing to cancel.
    mutating func remove(_ token: UInt64) {
        guard case .begun(let id, _) = watches[token]?.phase else { return }
        begun[id] = nil
        watches[token]?.phase = .waiting
    }

    /// The connection takes nothing more: all watches begin again on the next one.
    mutating func detach() {
        for (id, token) in begun.sorted(by: { $0.value < $1.value }) {
            former.insert(id)
            remove(token)
            wait(token)
        }
        cancels.removeAll()
    }

    /// The connection has ended; the watches that it had begin again, or end with an error.
    mutating func loseConnection(_ error: FeedClientError?) {
        if let error { for token in begun.values.sorted() { end(token, error) } }
        detach()
        former.removeAll()
    }

    mutating func passTime(to now: MonotonicInstant) {
        for token in tokens {
            guard case .delayed(let due) = watches[token]?.phase, due <= now else { continue }
            wait(token)
        }
    }

    var nextDue: MonotonicInstant? {
        watches.values.lazy.compactMap { watch -> MonotonicInstant? in
            if case .delayed(let due) = watch.phase { due } else { nil }
        }.min()
    }

    private var tokens: [UInt64] { watches.keys.sorted() }

    private mutating func wait(_ token: UInt64) {
        watches[token]?.phase = .waiting
        waiting.append(token)
    }

    /// Takes a watch off the connection, or out of those that wait for one.
    private mutating func leave(_ token: UInt64) {
        switch watches[token]?.phase {
        case .begun(let id, _):
            begun[id] = nil
            former.insert(id)
            cancels.append(id)
        case .waiting: waiting.removeAll { $0 == token }
        case .delayed, nil: break
        }
    }

    /// Reports the newest copy in place of one that its reader has not got.
    private mutating func show(_ token: UInt64, _ copy: WatchCopy) {
        let step = Step.show(watch: token, copy)
        if let place = reports.firstIndex(where: { $0.reported == token }) {
            reports[place] = step
        } else {
            reports.append(step)
        }
    }
}

extension WatchTable.Step {
    /// The watch that a report is for; nil for a frame.
    fileprivate var reported: UInt64? {
        switch self {
        case .show(let watch, _), .end(let watch, _): watch
        case .begin, .cancel: nil
        }
    }
}
