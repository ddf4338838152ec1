import DequeModule
import FeedConcurrency
import FeedTransport
import HeapModule

/// The open loop of a thread: the plan, and the connections with room.
struct Pacing {
    var plan: ArrivalPlan
    var ready = Deque<Int>()
    var isQueued: [Bool]
    /// Connections that took requests in this round and have not written them.
    var unwritten: [any LoadConnection] = []
    /// Whether a connection had room when the last round ended: a request that is late by the next
    /// round is then the loop's fault, and else it waited for room.
    var hadRoom = true
}

extension Worker {
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
        // A due request that finds no room leaves with the answer that makes room.
        let next = phases.startNanoseconds + pacing.plan.nextNanoseconds
        if isSending, next > now { arm(at: next) }
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
            recorder.totals.unsentCount += 1
            plan.advance()
        }
    }

    private func arm(at next: UInt64) {
        // A timer that fires too early is armed again then, which is cheaper than arming it at
        // every answer.
        if let armedFor, armedFor <= next { return }
        armedFor = next
        timer?.arm(at: MonotonicInstant(nanoseconds: next))
    }

    /// Fills the batch that begins with a vote, from the schedule or, without one, from `next`.
    func makeBatch(_ first: UInt32, _ next: () -> UInt32) -> UInt32 {
        let place = ledger.batches.take()
        ledger.batches.append(first, to: place)
        let rest = ledger.batches.capacity - 1
        let count = votesAsScheduled ? min(rest, schedule.remainingCount) : rest
        for _ in 0..<count {
            let vote = votesAsScheduled ? nextScheduled().argument : next()
            ledger.batches.append(vote, to: place)
        }
        return place
    }

    /// The next vote of the schedule, for any connection with room.
    func nextScheduled() -> PlannedRequest {
        PlannedRequest(operation: .vote, argument: schedule.takeNext())
    }
}

/// The users of a thread who think before their next request.
struct Thinking {
    /// A user's thought: when it ends and on which connection its request leaves.
    struct Thought: Comparable {
        let end: UInt64
        let client: Int

        static func < (one: Thought, other: Thought) -> Bool {
            (one.end, one.client) < (other.end, other.client)
        }
    }

    let time: ThinkTime
    var stream: RandomStream
    var thoughts = Heap<Thought>()
    var counts: [Int]
    /// Connections that took requests in this round and have not written them.
    var unwritten: [any LoadConnection] = []

    init(_ setup: WorkerSetup) {
        time = setup.configuration.think
        stream = setup.numbers(.thoughts)
        counts = [Int](repeating: 0, count: setup.clientCount)
    }
}

/// A closed loop with pauses: each place in a pipeline is a user, who thinks after each answer.
extension Worker {
    /// Lets the users think who have room on connection number `index`.
    func think(_ index: Int, room: Int, at now: UInt64) {
        guard isSending, var thinking = self.thinking.take() else { return }
        while thinking.counts[index] < room {
            thinking.counts[index] += 1
            let length = thinking.time.next(&thinking.stream)
            thinking.thoughts.insert(Thinking.Thought(end: now + length, client: index))
        }
        if let next = thinking.thoughts.min?.end { arm(at: next) }
        self.thinking = consume thinking
    }

    /// Sends the requests of the users whose thoughts have ended.
    func endThoughts() {
        guard isSending, var thinking = self.thinking.take() else { return }
        let now = MonotonicInstant.now.nanoseconds
        while let thought = thinking.thoughts.min, thought.end <= now {
            thinking.thoughts.removeMin()
            thinking.counts[thought.client] -= 1
            let client = clients[thought.client]
            // The connection may have been lost while its user thought.
            guard client.hasRoom else { continue }
            guard admit(1, at: now) == 1 else { break }
            if !client.hasUnwritten { thinking.unwritten.append(client) }
            client.take(intended: 0)
        }
        for client in thinking.unwritten { client.flush(at: MonotonicInstant.now.nanoseconds) }
        thinking.unwritten.removeAll(keepingCapacity: true)
        if let next = thinking.thoughts.min?.end { arm(at: next) }
        self.thinking = consume thinking
        requestsWritten()
    }
}
