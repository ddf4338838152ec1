import DequeModule
import FeedConcurrency
import FeedTransport

/// The open loop of a thread: the plan, and the connections with room.
struct Pacing {
    /// When requests are due.
    var plan: ArrivalPlan
    /// The connections with room, in the order in which they take requests.
    var ready = Deque<Int>()
    /// Whether each connection is in `ready`, by its number.
    var isQueued: [Bool]
    /// Connections that took requests in this round and have not written them.
    var unwritten: [any LoadConnection] = []
    /// The instant that the thread's timer is armed for.
    var armedFor: UInt64?
    /// Whether a connection had room when the last round ended: a request that is late by the next
    /// round is then the loop's fault, and else it waited for room.
    var hadRoom = true
}

extension Worker {
    /// Starts the plan of this thread.
    func startPacing() {
        let configuration = setup.configuration
        guard let rate = configuration.ratePerSecond else { return }
        pacing = Pacing(
            plan: ArrivalPlan(
                configuration.arrival,
                ratePerSecond: rate,
                ramp: configuration.ramp,
                thread: setup.thread,
                threadCount: configuration.threadCount,
                seed: configuration.seed
            ),
            isQueued: [Bool](repeating: false, count: clients.count)
        )
        for index in clients.indices where clients[index].isOpen { enqueue(index) }
        pump()
    }

    /// Queues connection number `index` if it has room, unless it is queued already.
    func enqueue(_ index: Int) {
        guard pacing?.isQueued[index] == false, clients[index].hasRoom else { return }
        pacing?.isQueued[index] = true
        pacing?.ready.append(index)
    }

    /// Gives every due request to a connection with room, round robin; a request without room stays
    /// due.
    func pump() {
        guard isSending, var pacing = self.pacing.take() else { return }
        let now = MonotonicInstant.now.nanoseconds
        while true {
            let intended = phases.startNanoseconds + pacing.plan.nextNanoseconds
            guard intended <= now, let index = pacing.ready.first else { break }
            let client = clients[index]
            // The connection may have been lost since it was queued; its requests then go to
            // another one.
            let hasRoom = client.hasRoom
            guard !hasRoom || admit(1, at: intended) == 1 else { break }
            pacing.ready.removeFirst()
            pacing.isQueued[index] = false
            guard hasRoom else { continue }
            pacing.plan.advance()
            if phases.isMeasured(intended) {
                recorder.recordLateness(pacing.hadRoom ? now &- intended : 0)
            }
            if !client.hasUnwritten { pacing.unwritten.append(client) }
            client.take(intended: intended)
            if client.hasRoom {
                pacing.isQueued[index] = true
                pacing.ready.append(index)
            }
        }
        pacing.hadRoom = !pacing.ready.isEmpty
        for client in pacing.unwritten { client.flush(at: MonotonicInstant.now.nanoseconds) }
        pacing.unwritten.removeAll(keepingCapacity: true)
        arm(&pacing, now)
        self.pacing = consume pacing
        requestsWritten()
    }

    /// Counts the requests that were due when sending ended and never left.
    ///
    /// They are in no histogram, so the report names them separately.
    func countUnsent() {
        guard var plan = pacing?.plan, setup.requestCount == nil else { return }
        let end = min(MonotonicInstant.now.nanoseconds, phases.measureUntilNanoseconds)
        while phases.startNanoseconds + plan.nextNanoseconds < end {
            recorder.unsentCount += 1
            plan.advance()
        }
    }

    /// Arms the timer for the next request where a connection could take it.
    ///
    /// A due request that finds no room leaves with the answer that makes room.
    private func arm(_ pacing: inout Pacing, _ now: UInt64) {
        let next = phases.startNanoseconds + pacing.plan.nextNanoseconds
        guard isSending, next > now else { return }
        // A timer that fires too early is armed again then, which is cheaper than arming it at
        // every answer.
        if let armed = pacing.armedFor, armed <= next { return }
        pacing.armedFor = next
        timer?.arm(at: MonotonicInstant(nanoseconds: next))
    }
}

extension Worker {
    /// The next vote of the schedule, for any connection with room.
    func nextScheduled() -> PlannedRequest {
        PlannedRequest(operation: .vote, argument: schedule.takeNext())
    }

    /// How many votes of the schedule have not been taken.
    var remainingVoteCount: Int { schedule.remainingCount }
}
