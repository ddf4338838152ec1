/// The events of a tick that many watches get alike, encoded once.
struct EventCache {
    /// What an event follows from.
    struct Transition: Hashable {
        /// What the clients know; nil is nothing.
        let before: ObjectIdentifier?
        /// What they know afterwards.
        let after: ObjectIdentifier
        /// How many posts they watch.
        let topCount: Int
        /// Whether they have an identity, without ballots or marks.
        let showsViewer: Bool
    }

    /// An event without its id.
    struct Event {
        /// The bytes of its frame behind the id; empty where there is nothing to say.
        let bytes: [UInt8]
        /// What a client knows that has been sent it.
        let known: KnownPosts
        /// What it knew before: kept, so that no other value gets the same identity.
        let before: KnownPosts?
    }

    /// The bytes that are kept: some hundred events of twenty posts.
    private static let byteLimit = 4 << 20

    private var events: [Transition: Event] = [:]
    private var byteCount = 0
    private var tick: UInt64 = 0

    /// The event of a transition in this tick; nil where it is not encoded yet.
    mutating func event(_ transition: Transition, in tick: UInt64) -> Event? {
        if tick != self.tick { removeAll() }
        self.tick = tick
        return events[transition]
    }

    /// Keeps an event until the end of the tick.
    mutating func keep(_ event: Event, _ transition: Transition) {
        if byteCount + event.bytes.count > Self.byteLimit { removeAll() }
        byteCount += event.bytes.count
        events[transition] = event
    }

    /// Forgets all events.
    mutating func removeAll() {
        guard !events.isEmpty else { return }
        events.removeAll(keepingCapacity: true)
        byteCount = 0
    }
}
