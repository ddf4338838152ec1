package import FeedConcurrency
internal import Synchronization

/// A bucket of tokens a host, which refills steadily: bounds how often a host's clients may do
/// something, and how much of it at once.
///
/// A bucket is kept as the time at which it will be full (the generic cell rate algorithm), so a
/// full one need not be kept at all. The table is bounded: a host that is dropped from it has a
/// full bucket again, which refuses no host.
package final class HostBuckets: Sendable {
    /// The hosts that are kept at once.
    package static let maximumHostCount = 65_536

    package let burst: Int
    package let countPerMinute: Int
    private let nanosecondsPerToken: UInt64
    private let clock: @Sendable () -> MonotonicInstant
    /// The time at which each host's bucket will be full, in nanoseconds of the clock.
    private let fullTimes = Lock(FullTimes())

    /// Full buckets for all hosts.
    package init(
        burst: Int,
        countPerMinute: Int,
        clock: @escaping @Sendable () -> MonotonicInstant = { MonotonicInstant.now }
    ) {
        precondition(burst > 0 && countPerMinute > 0, "A bucket holds and gets tokens.")
        self.burst = burst
        self.countPerMinute = countPerMinute
        nanosecondsPerToken = max(1, 60_000_000_000 / UInt64(countPerMinute))
        self.clock = clock
    }

    /// The number of hosts in the table; the buckets of some of them may be full again.
    package var hostCount: Int { fullTimes.withLock { $0.count } }

    /// How many buckets were looked at to make room for others.
    package var lookCount: Int { fullTimes.withLock { $0.lookCount } }

    /// Takes a token out of a host's bucket, which must keep some; O(1) on average, also where the
    /// table is full.
    ///
    /// Returns the time until there is one; nil if a token was taken.
    package func take(from host: ClientIdentity, leaving reserve: Int = 0) -> Duration? {
        let now = clock().nanoseconds
        return fullTimes.withLock { fullTimes in
            let missing = (fullTimes[host] ?? 0).subtractingWithFloor(now)
            let allowed = UInt64(max(1, burst - reserve)) * nanosecondsPerToken
            let after = missing + nanosecondsPerToken
            guard after <= allowed else {
                return .nanoseconds(Int64(clamping: after - allowed))
            }
            fullTimes.set(host, now + after, at: now)
            return nil
        }
    }
}

/// The time at which the bucket of each identity will be full, in nanoseconds of a monotonic clock; a new
/// one takes the place of one whose bucket is full, or lacks few tokens.
typealias FullTimes = BoundedTable<ClientIdentity, UInt64>

extension FullTimes {
    /// Full buckets, of which so many as ``HostBuckets/maximumHostCount`` are kept once they are not.
    init() { self.init(maximumCount: HostBuckets.maximumHostCount) }

    mutating func set(_ identity: ClientIdentity, _ time: UInt64, at now: UInt64) {
        set(identity, to: time) { $0.subtractingWithFloor(now) }
    }
}

extension UInt64 {
    /// The difference, and 0 where it would be negative.
    fileprivate func subtractingWithFloor(_ other: UInt64) -> UInt64 {
        self > other ? self - other : 0
    }
}

/// Limits how many new devices one host may bring: a device is not a person, and ballots are cheap
/// for a client that invents identities.
///
/// Many clients may share a host, as behind a proxy. So one client must not empty the host's bucket:
/// half of it is for the first new device of each connection, and the last quarter is for
/// connections that have been open for a minute.
package final class DeviceAdmission: Sendable {
    /// The history of the connection that brings a new device.
    package enum Standing: Sendable {
        /// It has been open for at least `establishedAge`, and brings its first new device.
        case established
        /// It brings its first new device.
        case fresh
        /// It has brought a new device before.
        case repeated
    }

    /// The least age of a connection that may use all of its host's bucket.
    package static let establishedAge = Duration.seconds(60)

    private let buckets: HostBuckets
    private let refused = Atomic<UInt64>(0)

    /// Admits up to `limit` new devices a host at once, and as many in each minute.
    package init(
        limit: Int,
        clock: @escaping @Sendable () -> MonotonicInstant = { MonotonicInstant.now }
    ) {
        buckets = HostBuckets(burst: limit, countPerMinute: limit, clock: clock)
    }

    package var refusedCount: UInt64 { refused.load(ordering: .relaxed) }

    /// Counts a new device of a host; returns the time until it is admitted, nil if it is; O(1) on average.
    package func admit(_ host: ClientIdentity, _ standing: Standing) -> Duration? {
        let reserve =
            switch standing {
            case .established: 0
            case .fresh: buckets.burst / 4
            case .repeated: buckets.burst / 2
            }
        let wait = buckets.take(from: host, leaving: reserve)
        if wait != nil { refused.wrappingAdd(1, ordering: .relaxed) }
        return wait
    }
}
