import FeedConcurrency
import FeedTransport
import HeapModule

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

    /// How long users think.
    let time: ThinkTime
    /// The lengths of thoughts.
    var stream: RandomStream
    /// The thoughts that have not ended.
    var thoughts = Heap<Thought>()
    /// How many of them each connection has.
    var counts: [Int]
    /// Connections that took requests in this round and have not written them.
    var unwritten: [any LoadConnection] = []
    /// The instant that the thread's timer is armed for.
    var armedFor: UInt64?

    /// Nobody thinks yet.
    init(_ setup: WorkerSetup) {
        time = setup.configuration.think
        stream = RandomStream(
            seed: setup.configuration.seed,
            thread: setup.thread,
            client: 0,
            purpose: .thoughts
        )
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
        arm(&thinking)
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
        arm(&thinking)
        self.thinking = consume thinking
        requestsWritten()
    }

    private func arm(_ thinking: inout Thinking) {
        guard let next = thinking.thoughts.min?.end else { return }
        // A timer that fires too early is armed again then.
        if let armed = thinking.armedFor, armed <= next { return }
        thinking.armedFor = next
        timer?.arm(at: MonotonicInstant(nanoseconds: next))
    }
}
