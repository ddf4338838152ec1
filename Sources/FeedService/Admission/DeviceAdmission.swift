package import FeedConcurrency
internal import Synchronization

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

    /// The number of refused devices.
    package var refusedCount: UInt64 { refused.load(ordering: .relaxed) }

    /// Counts a new device of a host; O(1) on average.
    ///
    /// - Returns: nil if it is admitted, otherwise the time until a device of this standing will be.
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
