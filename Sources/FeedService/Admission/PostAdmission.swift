package import FeedConcurrency
internal import Synchronization

/// Limits the posts, and the bytes of their texts, that a host, a device and a user create in an hour.
///
/// Each has two buckets, which hold what an hour allows and refill steadily: a host that has used up
/// 3,600 posts gets one a second. A bucket is kept as the time at which it will be full, in tables of
/// bounded size (`BoundedTable`).
package final class PostAdmission: Sendable {
    /// The limit that a post would pass.
    package struct Excess: Equatable, Sendable {
        package let identity: ClientIdentity
        /// Whether it is of bytes, and not of posts.
        package let isOfBytes: Bool
        package let limit: Int
        /// How long until the post is admitted.
        package let wait: Duration
    }

    private struct State {
        var posts = FullTimes()
        var bytes = FullTimes()
    }

    private static let hour: UInt64 = 3_600_000_000_000

    private let limits: PostLimits
    private let clock: @Sendable () -> MonotonicInstant
    private let state = Lock(State())
    private let refused = Atomic<UInt64>(0)

    package init(
        _ limits: PostLimits,
        clock: @escaping @Sendable () -> MonotonicInstant = { MonotonicInstant.now }
    ) {
        self.limits = limits
        self.clock = clock
    }

    /// The posts and edits that were refused, also for want of memory.
    package var refusedCount: UInt64 { refused.load(ordering: .relaxed) }

    package func countRefusal() { refused.wrappingAdd(1, ordering: .relaxed) }

    /// Takes a post, or the texts of an edit, out of the buckets of all who create it; O(1) on average.
    ///
    /// An edit is no post. Where a limit would be passed, no bucket has changed.
    package func admit(
        postCount: Int,
        byteCount: Int,
        by identities: [ClientIdentity]
    ) -> Excess? {
        let now = clock().nanoseconds
        let buckets: [(WritableKeyPath<State, FullTimes>, PostLimits.Hourly, Int)] = [
            (\.posts, limits.countPerHour, postCount), (\.bytes, limits.bytesPerHour, byteCount),
        ]
        return state.withLock { state in
            var taken: [(WritableKeyPath<State, FullTimes>, ClientIdentity, UInt64)] = []
            for identity in identities {
                for (fullTimes, hourly, count) in buckets {
                    let limit = hourly.limit(of: identity)
                    guard limit > 0 else { continue }
                    let before = max(state[keyPath: fullTimes][identity] ?? 0, now)
                    let after = before + UInt64(count) * Self.hour / UInt64(limit)
                    // A bucket that another thread has just filled holds up nothing that takes none.
                    guard count == 0 || after <= now + Self.hour else {
                        countRefusal()
                        return Excess(
                            identity: identity,
                            isOfBytes: fullTimes == \.bytes,
                            limit: limit,
                            wait: .nanoseconds(Int64(clamping: after - now - Self.hour))
                        )
                    }
                    taken.append((fullTimes, identity, after))
                }
            }
            for (fullTimes, identity, time) in taken where time > now {
                state[keyPath: fullTimes].set(identity, time, at: now)
            }
            return nil
        }
    }
}

extension PostLimits.Hourly {
    fileprivate func limit(of identity: ClientIdentity) -> Int {
        switch identity {
        case .device: device
        case .user: user
        case .address, .network, .key, .earlierRun: host
        }
    }
}

/// Who may create posts, how many in an hour, and how much memory all posts may take.
///
/// The limits of an hour hold for callers from other machines, and not for services; 0 is no limit.
package struct PostLimits: Sendable, Equatable {
    /// Those who may create posts, beside services and local callers.
    package enum Creators: String, CaseIterable, Sendable {
        /// Every caller that may change something.
        case anyone
        /// Users: those who have signed in.
        case users
        case services
    }

    /// The limits of an hour for a host, a device that is no user's, and a user.
    package struct Hourly: Sendable, Equatable {
        /// What all callers of a host create.
        package var host: Int
        /// What a device creates that nobody has signed in on.
        package var device: Int
        /// What a user creates, on all devices.
        package var user: Int

        package init(host: Int, device: Int, user: Int) {
            self.host = host
            self.device = device
            self.user = user
        }
    }

    package var creators = Creators.anyone
    /// The posts of an hour: an office or a school behind one address posts one a second.
    package var countPerHour = Hourly(host: 3_600, device: 200, user: 200)
    /// The bytes of texts of an hour, those of edits too: over 9 KiB a post of a host, and 20 of a person.
    package var bytesPerHour = Hourly(host: 32 << 20, device: 4 << 20, user: 4 << 20)
    /// The memory that all posts may take; 0 is no limit.
    ///
    /// The program's default is half of the machine's.
    package var memoryByteCount = 0

    package init() {}
}
