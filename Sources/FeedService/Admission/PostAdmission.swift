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
        /// Whose limit it is.
        package let identity: ClientIdentity
        /// Whether it is of bytes, and not of posts.
        package let isOfBytes: Bool
        /// What an hour allows.
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
    /// - Parameters:
    ///   - postCount: 1 for a new post, 0 for an edit.
    ///   - byteCount: The bytes of the texts.
    ///   - identities: The host, and the user or the device.
    /// - Returns: The limit that it would pass, and then no bucket has changed; nil where it is admitted.
    package func admit(
        postCount: Int,
        byteCount: Int,
        by identities: [ClientIdentity]
    ) -> Excess? {
        let now = clock().nanoseconds
        return state.withLock { state in
            var times: [(posts: UInt64, bytes: UInt64)] = []
            for identity in identities {
                let count = limits.countPerHour.limit(of: identity)
                let posts = Self.fullTime(state.posts[identity], postCount, of: count, now)
                if posts > now + Self.hour, postCount > 0 {
                    return excess(
                        identity,
                        isOfBytes: false,
                        limit: count,
                        fullTime: posts,
                        at: now
                    )
                }
                let bytes = limits.bytesPerHour.limit(of: identity)
                let full = Self.fullTime(state.bytes[identity], byteCount, of: bytes, now)
                if full > now + Self.hour {
                    return excess(identity, isOfBytes: true, limit: bytes, fullTime: full, at: now)
                }
                times.append((posts, full))
            }
            for (identity, time) in zip(identities, times) {
                if time.posts > now { state.posts.set(identity, time.posts, at: now) }
                if time.bytes > now { state.bytes.set(identity, time.bytes, at: now) }
            }
            return nil
        }
    }

    /// When a bucket will be full after so many tokens are taken out of it.
    private static func fullTime(
        _ known: UInt64?,
        _ count: Int,
        of limit: Int,
        _ now: UInt64
    ) -> UInt64 {
        guard limit > 0 else { return now }
        return max(known ?? 0, now) + UInt64(count) * hour / UInt64(limit)
    }

    private func excess(
        _ identity: ClientIdentity,
        isOfBytes: Bool,
        limit: Int,
        fullTime: UInt64,
        at now: UInt64
    ) -> Excess {
        countRefusal()
        return Excess(
            identity: identity,
            isOfBytes: isOfBytes,
            limit: limit,
            wait: .nanoseconds(Int64(clamping: fullTime - now - Self.hour))
        )
    }
}

extension PostLimits.Hourly {
    /// The limit of one who creates posts.
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
