import FeedOrders

/// All limits of the ranking, each with its reason.
///
/// A caller keeps to the first five, and checks its own limits against them when it starts. A call
/// that passes them is a programmer's error, and traps. The store itself keeps to the others.
package enum RankingLimits {
    /// The rows of a page: they bound what a call copies, and so how long it occupies its thread.
    package static let maximumPageSize = 100
    /// The bytes of a post's text: 16 MiB less one.
    ///
    /// The limit is far over any frame, and keeps offsets into a page's texts within 32 bits.
    package static let maximumTextByteCount = Int(UInt32.max >> 8)
    /// The bytes of each other text of a post: the blob has 16 bits for its count.
    package static let maximumFieldByteCount = Int(UInt16.max)
    /// The ups, and the downs, of an imported post: 2^53 leaves room for further votes.
    package static let maximumImportedCount: UInt64 = 1 << 53
    /// The Unix time of an imported post.
    package static let maximumTimeMilliseconds = HotRank.maximumTimeMilliseconds
    /// The milliseconds that the time of new posts may be ahead of a clock that was set back.
    ///
    /// Within these five minutes times stand still instead of going back.
    package static let maximumClockHold: Int64 = 5 * 60 * 1_000
    /// The highest revision that recovery takes.
    ///
    /// So many writes are never made. Damaged bytes with a higher revision would let revisions
    /// start over.
    package static let maximumRevision: UInt64 = 1 << 62

    /// The bits that the id of a post may have.
    ///
    /// Bits 56 to 61 are kept for the number of a cluster of services, so that an id alone will say which
    /// one has the post. Bits 62 and 63 stay 0.
    package static let postIDBitCount = 56
    /// The stripes of a store: an id is a slot, of 32 bits, and the number of a stripe below it.
    package static let maximumStripeCount = 1 << (postIDBitCount - UInt32.bitWidth)

    /// The memory of a post beside its texts, with TOP and NEW kept, about; 171 to 179 were measured.
    package static let postOverheadByteCount = 200
    /// The feeds of a store: each feed costs every stripe a few hundred bytes.
    package static let maximumFeedCount = 4_096
    /// The devices of a store that vote: about 60 bytes each, a quarter of a gigabyte in all.
    ///
    /// A ballot has 30 bits for a voter's number; devices have the numbers of the first 29.
    package static let maximumVoterCount = 4_194_304
    /// The users of a store that vote: 22 to 43 bytes each, half a gigabyte in all.
    ///
    /// Services bring them, and accounts, so no host can fill the table by itself.
    package static let maximumUserCount = 16_777_216

    /// The milliseconds after which a side list that nobody has read is dropped, at the next read of
    /// another one in its stripe.
    ///
    /// A list takes some 8 bytes a post, 35 where it was read beyond its head, and a reader of it asks
    /// for its next page within ten minutes.
    package static let sideListIdleTime: Int64 = 10 * 60 * 1_000
    /// The posts of side lists that are worked on before the stripe's lock is given up: a millisecond's
    /// worth or so.
    package static let sideStepPostCount = 8_192
    /// The steps after which a request works on its side list without limit: those of a list of some
    /// 150 million posts, which only votes can pass that come faster than steps.
    package static let maximumSideStepCount = 65_536
    /// The entries of posts that were taken out for which a window's queue is not filled anew.
    static let spentEntryCount = 1_024
    /// The head of a side list is so many times the head of an index, so that a snapshot ends in it.
    static let sideHeadFactor = 8

    /// The posts that a user marks one by one: a count of unread posts looks at each of them.
    ///
    /// Marks through a post end those before it, so a viewer who reads or dismisses all needs few.
    package static let maximumUserMarkCount = 16_384
    /// The posts that a device marks one by one: fewer, because anybody can make up devices.
    package static let maximumDeviceMarkCount = 4_096
    /// The marks through posts of one feed and topic that stand at once, each through an earlier
    /// post than the one before.
    package static let maximumMarkStepCount = 16
    /// The marks taken back of a viewer that readers which keep a copy learn one by one; one that has missed
    /// more learns all marks again.
    package static let maximumLiftedMarkCount = 64
    /// The units of all viewers' marks: 64 bytes each at worst, 256 MiB in all.
    ///
    /// Devices take at most half of them.
    package static let maximumMarkUnitCount = 4_194_304
    /// The units that a viewer costs beside its marks, each of which is a unit.
    package static let viewerUnitCount = 4

    /// The posts that a snapshot of a list has: ten pages of the largest size.
    package static let snapshotPostCount = 1_000
    /// A list gets at most one new snapshot in this time, which all callers share.
    package static let snapshotInterval = Duration.milliseconds(250)
    /// How long a snapshot is kept after its last use.
    package static let snapshotLifetime = Duration.seconds(120)
    /// The bytes of all snapshots: some 2,600 of the greatest size.
    package static let maximumSnapshotByteCount = 64 << 20
    /// What a snapshot is counted for beside its entries.
    static let snapshotOverheadByteCount = 512
    /// The posts that a page looks at to find those that pass its filter.
    package static let maximumScanCount = 5_000

    /// The milliseconds after which the order of changes is given up where nobody has read it.
    ///
    /// It takes 20 to 36 bytes a post, and each change notes its post while it exists.
    package static let syncIdleTime: Int64 = 10 * 60 * 1_000
    /// The milliseconds for which deletions are kept for readers of changes: a day.
    package static let tombstoneLifetime: Int64 = 24 * 60 * 60 * 1_000
    /// The deletions that are kept: 32 bytes each, 32 MiB in all; the oldest of a stripe go first.
    package static let maximumTombstoneCount = 1_048_576
    /// The changes that each stripe may add to a page at least.
    static let syncPartCount = 16

    /// The keys that a request may refresh in its first try: one to two milliseconds' worth.
    package static let firstTryKeyCount = 8_192
    /// The stale posts below which a stripe's refresh is never due: so many take a millisecond.
    ///
    /// A rebuild passes all keys, so the cost of each stale post falls as their number rises.
    package static let minimumStaleCount = 8_192
    /// Above that count, a refresh is due when one post in so many is stale.
    ///
    /// A reader deep in a list then waits at worst for half of the time that all posts would take.
    /// With a half instead of a quarter, a vote's share of order falls by a third.
    package static let staleShare = 2
    /// A stripe of up to so many posts is refreshed whole: two milliseconds at worst.
    package static let wholeRefreshPostCount = 16_384
    /// The most keys that a step of a refresh sorts before it ends: a millisecond's worth.
    package static let refreshedKeysPerStep = 16_384
    /// The posts that are refreshed together in steps: one step sorts their keys.
    ///
    /// Each job passes all keys of the stripe once, so smaller jobs would cost more a post.
    static let maximumJobPostCount = 65_536
    /// The stale posts above which a refresh frees its working memory when it ends.
    ///
    /// Each post takes some 100 bytes, which would add up over the stripes. Up to this limit they
    /// are at most 2 MB in all.
    static let refreshMemoryCount = 1_024
}
