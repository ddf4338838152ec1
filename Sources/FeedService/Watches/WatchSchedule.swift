package import FeedConcurrency

/// When members are due: a ring of slots, one a tick.
///
/// That is a timing wheel (Varghese and Lauck, 1987).
/// A member that is due beyond the ring is taken early, and added again by its owner.
package struct WatchSchedule<Member> {
    private static var slotCount: UInt64 { 128 }
    /// The ticks that a member may be late, to be taken among fewer.
    private static var latestTickCount: UInt64 { 2 }

    private var slots: [[(member: Member, tick: UInt64)]]
    private var lastTick: UInt64

    /// An empty schedule from an instant on.
    package init(at now: MonotonicInstant) {
        slots = Array(repeating: [], count: Int(Self.slotCount))
        lastTick = WatchTick.number(of: now)
    }

    /// The tick in which a member is taken that is due at an instant; O(1).
    ///
    /// It is the first tick from then on. Where that has more than are served together, it is the one of
    /// it and the next two that is expected to have the fewest members. So members that are added again
    /// and again spread over the ring, also if they came together, and few are late then.
    package func tick(forDue instant: MonotonicInstant) -> UInt64 {
        let last = lastTick + Self.slotCount
        let first = min(max(WatchTick.number(from: instant), lastTick + 1), last)
        guard memberCount(first) >= WatchTick.portionConnectionCount else { return first }
        // The earliest of the least.
        return (first...min(first + Self.latestTickCount, last)).min {
            expectedCount($0, from: first) < expectedCount($1, from: first)
        } ?? first
    }

    /// The members of a tick and those that will come to it, if all come again after the same time: who
    /// is taken a tick after those that come to `first` now comes to the tick after `first`.
    private func expectedCount(_ tick: UInt64, from first: UInt64) -> Int {
        memberCount(tick) + (tick > first ? memberCount(lastTick + tick - first) : 0)
    }

    private func memberCount(_ tick: UInt64) -> Int { slots[Int(tick % Self.slotCount)].count }

    /// Adds a member in a tick that ``tick(forDue:)`` has given; O(1).
    package mutating func add(_ member: Member, in tick: UInt64) {
        slots[Int(tick % Self.slotCount)].append((member, tick))
    }

    /// Takes all members that are due by now, in the order of their ticks, each with its tick.
    package mutating func takeDue(at now: MonotonicInstant) -> [(member: Member, tick: UInt64)] {
        let end = WatchTick.number(of: now)
        guard end > lastTick else { return [] }
        var due: [(member: Member, tick: UInt64)] = []
        // After a long wait each slot is taken once.
        let first = max(lastTick + 1, end >= Self.slotCount ? end - Self.slotCount + 1 : 0)
        for tick in first...end {
            let slot = Int(tick % Self.slotCount)
            due += slots[slot]
            slots[slot].removeAll(keepingCapacity: true)
        }
        lastTick = end
        return due
    }
}

/// The unit of time of watches: an event is late by two of them at most, and by four where many others
/// are due in its tick, and all watches of a list that are served in a tick share one read of the list.
package enum WatchTick {
    /// The length of a tick.
    package static let interval = Duration.milliseconds(10)
    /// The connections that a loop serves in one iteration, at most.
    static let portionConnectionCount = 8
    private static let nanoseconds: UInt64 = 10_000_000

    /// The number of the tick that an instant is in.
    package static func number(of instant: MonotonicInstant) -> UInt64 {
        instant.nanoseconds / nanoseconds
    }

    /// The number of the first tick that begins at an instant or later.
    package static func number(from instant: MonotonicInstant) -> UInt64 {
        (instant.nanoseconds + nanoseconds - 1) / nanoseconds
    }
}
