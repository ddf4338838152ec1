package import FeedTransport
internal import Synchronization

/// Limits how many new devices one host may bring: a device is not a person, and ballots are cheap
/// for whoever can invent identities.
///
/// Counts start anew every minute. The table is bounded; where it is full, hosts that are not in
/// it are admitted nothing until the next minute.
package final class DeviceAdmission: Sendable {
    private struct State {
        var minute: Int64 = 0
        var countByHost: [SocketAddress.Host: Int] = [:]
    }

    /// The hosts that are counted at once.
    package static let maximumHostCount = 65_536

    private let limit: Int
    private let state = Mutex(State())

    /// Admits up to `limit` new devices a host and minute.
    package init(limit: Int) { self.limit = limit }

    /// Whether a host may bring one more new device now; counts it if so.
    package func admit(host: SocketAddress.Host, unixMilliseconds: Int64) -> Bool {
        state.withLock { state in
            let minute = unixMilliseconds / 60_000
            if minute != state.minute {
                state = State(minute: minute)
            }
            let count = state.countByHost[host, default: 0]
            guard count < limit else { return false }
            guard count > 0 || state.countByHost.count < Self.maximumHostCount else { return false }
            state.countByHost[host] = count + 1
            return true
        }
    }
}
