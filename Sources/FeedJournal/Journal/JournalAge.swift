/// How long a journal was written to, in microseconds: a time that no wrong clock adds to.
///
/// It goes on by the time between two records of one run of the service. A longer gap counts as a minute:
/// so a clock that is set adds no more, and a service at rest keeps its segments longer, which have few
/// bytes. The time between two runs counts nothing, as only a clock tells it.
package struct JournalAge: Equatable {
    /// The most that the time between two records counts: a minute.
    static let longestGap: UInt64 = 60_000_000

    /// The age.
    package private(set) var microseconds: UInt64
    /// The clock at the last record of this run; nil before the first one.
    private var last: UInt64?

    /// The age that was found, before the first record of a run.
    package init(_ microseconds: UInt64) { self.microseconds = microseconds }

    /// A record of this run is written, at a reading of the clock.
    package mutating func add(recordAt clock: UInt64) {
        if let last, clock > last { microseconds += min(clock - last, Self.longestGap) }
        last = clock
    }

    /// A record is found a time after the one before it, which may be of an earlier run: a gap that is
    /// longer than one within a run may count is none.
    package mutating func add(foundGap gap: UInt64) {
        if gap <= Self.longestGap { microseconds += gap }
    }
}
