/// The member `record` of the JSON report: what `--verify-only` reads.
struct RunRecordJSON: Codable {
    private let instance: String
    private let feed: String
    private let feeds: [Feed]
    private let startMilliseconds: Int64
    private let endMilliseconds: Int64
    private let tallied: String
    /// Runs of ids.
    private let posts: [UInt64]
    private let acknowledged: [UInt64]
    private let scoreSums: [UInt64]
    private let squareSums: [UInt64]
    /// Pairs of the number of a tally and a count, as in `failed` and `repeated`.
    private let unknown: [UInt64]
    private let failed: [UInt64]
    private let repeated: [UInt64]
    /// Runs of ids.
    private let created: [UInt64]
    private let unknownTitles: [String]

    private struct Feed: Codable {
        var name: String
        /// Runs of ids.
        var posts: [UInt64]
    }

    private enum CodingKeys: String, CodingKey {
        case instance, feed, feeds, tallied, posts, acknowledged
        case unknown, failed, repeated, created
        case startMilliseconds = "start_ms"
        case endMilliseconds = "end_ms"
        case scoreSums = "score_sums"
        case squareSums = "square_sums"
        case unknownTitles = "unknown_titles"
    }

    /// The members of `record`.
    init(_ record: RunRecord) {
        func pairs(_ counts: [Int: UInt64]) -> [UInt64] {
            counts.sorted { $0.key < $1.key }.flatMap { [UInt64($0.key), $0.value] }
        }
        instance = RunRecord.name(record.instanceID)
        feed = record.feed
        feeds = record.feeds.map { Feed(name: $0.name, posts: NumberRanges.encode($0.ids)) }
        startMilliseconds = record.startMilliseconds
        endMilliseconds = record.endMilliseconds
        tallied = record.tallied.rawValue
        posts = NumberRanges.encode(record.posts)
        acknowledged = record.tallies.map(\.acknowledged)
        scoreSums = record.tallies.map(\.scoreSum)
        squareSums = record.tallies.map(\.squareSum)
        unknown = pairs(record.unknown)
        failed = pairs(record.failed)
        repeated = pairs(record.repeated)
        created = NumberRanges.encode(record.createdIDs)
        unknownTitles = record.unknownTitles
    }
}

extension RunRecordJSON {
    /// The record, if its parts fit together.
    var record: RunRecord? {
        guard let instanceID = UInt64(instance, radix: 16),
            let tallied = Tallied(rawValue: tallied),
            let ids = NumberRanges.decode(posts, limit: Self.maximumPostCount),
            let createdIDs = NumberRanges.decode(
                created,
                limit: Self.maximumPostCount - ids.count
            )
        else { return nil }
        let count = tallied.isSplit ? 2 * ids.count : ids.count
        guard acknowledged.count == count, scoreSums.count == count, squareSums.count == count,
            let unknown = Self.counts(unknown, below: count),
            let failed = Self.counts(failed, below: count),
            let repeated = Self.counts(repeated, below: count),
            [acknowledged, Array(unknown.values), Array(failed.values)]
                .allSatisfy({ $0.allSatisfy { $0 <= Self.maximumVoteCount } })
        else { return nil }
        var feeds: [RunRecord.Feed] = []
        var rest = Self.maximumPostCount - ids.count - createdIDs.count
        for feed in self.feeds {
            guard let ids = NumberRanges.decode(feed.posts, limit: rest) else { return nil }
            rest -= ids.count
            feeds.append(RunRecord.Feed(name: feed.name, ids: ids))
        }
        var record = RunRecord(
            instanceID: instanceID,
            feed: feed,
            startMilliseconds: startMilliseconds,
            endMilliseconds: endMilliseconds,
            tallied: tallied,
            posts: ids,
            tallies: (0..<count).map { number in
                VoteTally(
                    acknowledged: acknowledged[number],
                    scoreSum: scoreSums[number],
                    squareSum: squareSums[number]
                )
            }
        )
        record.feeds = feeds
        record.unknown = unknown
        record.failed = failed
        record.repeated = repeated
        record.createdIDs = createdIDs
        record.unknownTitles = unknownTitles
        return record
    }

    /// More posts than any run has and creates.
    private static let maximumPostCount = 100_000_000
    /// More votes on a post than any run casts.
    private static let maximumVoteCount = VoteTally.mostVotes

    private static func counts(_ pairs: [UInt64], below count: Int) -> [Int: UInt64]? {
        guard pairs.count.isMultiple(of: 2) else { return nil }
        var counts: [Int: UInt64] = [:]
        for place in stride(from: 0, to: pairs.count, by: 2) {
            guard pairs[place] < UInt64(count),
                counts.updateValue(pairs[place + 1], forKey: Int(pairs[place])) == nil
            else { return nil }
        }
        return counts
    }
}
