internal import FeedConcurrency
internal import FeedProto
internal import Synchronization

/// The way to the driver of one connection, on the client's thread; any task may hold it.
final class Link: Sendable {
    /// The frame limits of services that a client accepts; it does not believe an announcement
    /// outside of them.
    ///
    /// The least has room for every call without a text; the most bounds a client's memory.
    static let frameByteCounts = 1_024...16 << 20

    private let loop: ClientLoop
    private let place: Int
    private let inbox: CallInbox
    private let lastToken = Atomic<UInt64>(0)

    /// The connection of a driver, by its place in the loop, which opens with the first call.
    init(_ loop: ClientLoop, _ place: Int, _ inbox: CallInbox) {
        self.loop = loop
        self.place = place
        self.inbox = inbox
    }

    /// Waits until the connection is open, and returns what the service answered to its Hello.
    func open(_ limit: TimeLimit) async throws(FeedClientError) -> HelloResponse {
        // The session sends a Hello of its own, and completes this call with the answer to it.
        let request = Request.hello(HelloRequest())
        let tokens = takeTokens(1)
        let outcome = await withTaskCancellationHandler {
            await CallTask.wait { task in
                let refusal = post(tokens) {
                    let call = SessionDriver.Session.Call(.task(task), request, limit)
                    $0.open(call, token: tokens.lowerBound)
                }
                if let refusal { task.resume(returning: .failure(refusal)) }
            }
        } onCancel: {
            cancel(tokens)
        }
        guard case .hello(let service) = try outcome.get().response else {
            throw .wrongAnswer(to: request)
        }
        return service
    }

    /// Makes a call and waits for its answer, its deadline, the task's cancellation or the end.
    nonisolated(nonsending) func call(
        _ request: Request,
        minimumRevision: UInt64,
        actingUserID: UserID,
        timeout: Duration
    ) async throws(FeedClientError) -> Answer {
        let token = takeToken()
        let outcome = await withTaskCancellationHandler {
            await CallTask.wait { task in
                let entry = InboxCall(
                    token: token,
                    task: task,
                    request: request,
                    minimumRevision: minimumRevision,
                    actingUserID: actingUserID,
                    timeout: timeout
                )
                submit(entry)
            }
        } onCancel: {
            cancel(token...token)
        }
        return try outcome.get()
    }

    /// Makes calls, which leave in their order, and waits until all have ended.
    func call(
        _ requests: [Request],
        actingUserID: UserID,
        timeout: Duration
    ) async -> [SessionDriver.Outcome] {
        await callAll(requests, timeout: timeout) { caller, request, limit in
            SessionDriver.Session.Call(caller, request, actingUserID: actingUserID, limit)
        }
    }

    /// Makes changes whose sequences the caller keeps; they leave in their order.
    func call(_ changes: [NumberedChange], timeout: Duration) async -> [SessionDriver.Outcome] {
        await callAll(changes, timeout: timeout) { caller, change, limit in
            SessionDriver.Session.Call(caller, change.request, limit)
                .numbered(change.sequence, mayHaveLeft: change.mayHaveLeft)
        }
    }

    private func callAll<Item: Sendable>(
        _ items: [Item],
        timeout: Duration,
        _ makeCall:
            @escaping @Sendable (
                SessionDriver.Waiter, Item, TimeLimit
            ) -> SessionDriver.Session.Call
    ) async -> [SessionDriver.Outcome] {
        guard !items.isEmpty else { return [] }
        let tokens = takeTokens(items.count)
        let limit = TimeLimit(timeout)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { task in
                let refusal = post(tokens) { driver in
                    let group = CallGroup(of: items.count, for: task)
                    let calls = items.enumerated().lazy.map { place, item in
                        makeCall(.member(group, place: place), item, limit)
                    }
                    driver.submit(calls, firstToken: tokens.lowerBound)
                }
                if let refusal { task.resume(returning: items.map { _ in .failure(refusal) }) }
            }
        } onCancel: {
            cancel(tokens)
        }
    }

    /// What the session sent again so far; nil once the client is closed.
    func history() async -> ConnectionHistory? {
        await withCheckedContinuation { continuation in
            let isPosted = post { continuation.resume(returning: $0.history) }
            if !isPosted { continuation.resume(returning: nil) }
        }
    }

    func adopt(sessionToken token: [UInt8]) { post { $0.adopt(sessionToken: token) } }

    /// Leaves a session whose end the service has not answered.
    func leave(sessionToken token: [UInt8]) { post { $0.leave(sessionToken: token) } }

    /// Takes a time from that of the next call.
    func spend(_ time: Duration) { post { $0.spentTime = time } }

    private func takeToken() -> UInt64 { lastToken.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Runs work with the driver; false if the client's thread has ended, or is about to.
    @discardableResult
    private func post(_ work: @escaping @Sendable (SessionDriver) -> Void) -> Bool {
        loop.post(to: place, work)
    }

    private func submit(_ entry: InboxCall) {
        guard !Task.isCancelled else {
            return entry.task.resume(returning: .failure(.cancelled(effect: .none)))
        }
        if inbox.append(entry) { takeInbox() }
        // A cancellation between the two preceded the call and found nothing.
        if Task.isCancelled { cancel(entry.token...entry.token) }
    }

    /// Lets the driver take the inbox; a driver that has ended takes no call, nor does it take others
    /// that were added meanwhile.
    private func takeInbox() {
        guard !post({ $0.takeInbox() }) else { return }
        var entries: [InboxCall] = []
        inbox.take(into: &entries)
        for entry in entries { entry.task.resume(returning: .failure(.closed)) }
    }

    /// Numbers for calls that are cancelled together.
    private func takeTokens(_ count: Int) -> ClosedRange<UInt64> {
        let count = UInt64(count)
        let last = lastToken.wrappingAdd(count, ordering: .relaxed).newValue
        return (last - count + 1)...last
    }

    /// Lets the driver take calls; the result is nil, or why it does not.
    private func post(
        _ tokens: ClosedRange<UInt64>,
        _ submit: @escaping @Sendable (SessionDriver) -> Void
    ) -> FeedClientError? {
        guard !Task.isCancelled else { return .cancelled(effect: .none) }
        guard post(submit) else { return .closed }
        // A cancellation between the two preceded the calls and found nothing.
        if Task.isCancelled { cancel(tokens) }
        return nil
    }

    private func cancel(_ tokens: ClosedRange<UInt64>) { post { $0.cancel(tokens) } }
}

extension SessionDriver.Session.Call {
    init(
        _ caller: SessionDriver.Waiter,
        _ request: Request,
        minimumRevision: UInt64 = 0,
        actingUserID: UserID = 0,
        _ limit: TimeLimit
    ) {
        self.init(
            caller: caller,
            request: request,
            minimumRevision: minimumRevision,
            actingUserID: actingUserID,
            timeout: limit.timeout,
            deadline: limit.deadline
        )
    }
}

extension Link {
    /// Begins a watch that is shown through a mailbox, and returns what ends it.
    func watch(
        _ request: WatchPostsRequest,
        actingUserID: UserID,
        _ mailbox: WatchMailbox
    ) -> @Sendable () -> Void {
        let token = takeToken()
        let isTaken = post {
            $0.watch(token, request, actingUserID: actingUserID, mailbox)
        }
        if !isTaken { mailbox.end(.closed) }
        return { [self] in post { $0.cancelWatch(token) } }
    }
}

/// The calls that tasks have made and the client's loop has not taken yet.
typealias CallInbox = Inbox<InboxCall>

struct InboxCall: Sendable {
    let token: UInt64
    let task: CallTask
    let request: Request
    let minimumRevision: UInt64
    let actingUserID: UserID
    let timeout: Duration
}

/// What other threads have handed to the client's loop, and the loop has not taken yet.
///
/// One wake-up of the loop serves all entries that come before it runs, and an entry allocates nothing.
final class Inbox<Entry: Sendable>: Sendable {
    private let entries = Lock<[Entry]>([])

    /// Adds an entry; true if the loop has to be told, as it has taken all entries before.
    func append(_ entry: Entry) -> Bool {
        entries.withLock { entries in
            entries.append(entry)
            return entries.count == 1
        }
    }

    /// Takes all entries, in their order, into an empty array, whose memory the next entries get.
    func take(into taken: inout [Entry]) {
        precondition(taken.isEmpty, "Entries that were taken are served before others.")
        entries.withLock { swap(&$0, &taken) }
    }
}
