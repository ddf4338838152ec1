/// Every limit of the ranking in one place, each with its reason.
///
/// A caller keeps to the first five, and checks its own limits against them when it starts: to
/// pass them is a programmer's error, and traps. The store itself keeps to the others.
package enum RankingLimits {
    /// The rows of a page: what a call copies, and so how long it holds its thread.
    package static let maximumPageSize = 100
    /// The bytes of a post's text: 16 MiB less one, far over any frame, so that offsets into a
    /// page's texts stay within 32 bits.
    package static let maximumTextByteCount = Int(UInt32.max >> 8)
    /// The bytes of each other text of a post: its count has 16 bits in the blob.
    package static let maximumFieldByteCount = Int(UInt16.max)
    /// The ups, and the downs, that an imported post comes with: 2^53 leave room for votes to come.
    package static let maximumImportedCount: UInt64 = 1 << 53
    /// The Unix time of an imported post, some 71,000 years: far below where a HOT rank and its
    /// bound would lose their last digits.
    package static let maximumTimeMilliseconds: Int64 = 1 << 51
    /// How far, in milliseconds, the time of new posts may be ahead of a clock that was set back:
    /// five minutes, in which times stand still instead of going back.
    package static let maximumClockHold: Int64 = 5 * 60 * 1_000
    /// The revision that recovery takes: so many writes are never made, and damaged bytes that say
    /// so would let revisions start over.
    package static let maximumRevision: UInt64 = 1 << 62

    /// The feeds of a store: each costs every stripe a few hundred bytes.
    package static let maximumFeedCount = 4_096
    /// The voters of a store: about 60 bytes each, a quarter of a gigabyte in all.
    ///
    /// A ballot has 30 bits for a voter's number.
    package static let maximumVoterCount = 4_194_304

    /// The keys that a request may settle in its first turn: one to two milliseconds' worth.
    package static let settlingKeysPerTurn = 8_192
    /// The backlog below which a stripe's settling is never due: so many take a millisecond.
    ///
    /// A rebuild passes all keys, so the more posts wait for it, the less it costs each.
    package static let minimumBacklogCount = 8_192
    /// Above that, settling is due when one post in so many waits.
    ///
    /// Who reads deep in a list then waits for half of what all posts would take, at worst; from a
    /// quarter to a half, a vote's share of order falls by a third.
    package static let backlogShare = 2
    /// Up to so many posts a stripe is settled whole: two milliseconds at worst.
    package static let wholeSettlingPostCount = 16_384
    /// What a step of settling sorts at most before it ends: a millisecond's worth.
    package static let settlingKeysPerStep = 16_384
    /// The posts that are settled together in steps: sorting their keys is one step.
    ///
    /// Each job passes all keys of the stripe once, so fewer posts would cost more each.
    static let maximumJobPostCount = 65_536
    /// What a log of effects keeps of a buffer that has grown: several turns' worth of imports.
    static let keptLogByteCount = 1 << 22
    /// The dirty posts above which the working memory of a settle is given back after it.
    ///
    /// Some 100 bytes for each would add up over the stripes; for so few it is at most 2 MB in all.
    static let settlingMemoryCount = 1_024
}
