import Foundation

/// What a run knows of its posts and votes at its end, so that they can be audited again later.
package struct RunRecord: Sendable, Equatable {
    package struct Feed: Sendable, Equatable {
        package var name: String
        package var ids: [UInt64]

        package init(name: String, ids: [UInt64]) {
            self.name = name
            self.ids = ids
        }
    }

    /// The state of the service that has them.
    package var instanceID: UInt64 = 0
    /// The feed of the posts; empty where files filled several.
    package var feed = ""
    /// Feeds that files filled, which have their posts and no others; none in a run of a workload.
    package var feeds: [Feed] = []
    /// When the first post was created, by the service's clock.
    package var startMilliseconds: Int64 = 0
    /// When the run ended, by the service's clock.
    package var endMilliseconds: Int64 = 0
    /// What the votes are counted in: scores, or upvotes and downvotes alternately, as ballots are.
    package var tallied = Tallied.scores
    /// What is known of the votes on each post: one account, or of votes up and of votes down.
    package var accounts: [PostAccount] = []
    /// Posts that acknowledged requests created during the load.
    package var createdIDs: [UInt64] = []
    /// Titles of posts that requests without an answer may have created.
    package var unknownTitles: [String] = []

    package init() {}

    /// The posts, by their number.
    package var postIDs: [UInt64] {
        stride(from: 0, to: accounts.count, by: tallied.isSplit ? 2 : 1).map { accounts[$0].id }
    }

    /// The text form of an instance id: most readers of JSON cannot represent its number.
    package static func name(_ instanceID: UInt64) -> String {
        let digits = String(instanceID, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension Tallied {
    /// The accounts of posts, in their order, of which these tallies are known.
    package func accounts(_ postIDs: [UInt64], _ tallies: [VoteTally]) -> [PostAccount] {
        tallies.enumerated().map { number, tally in
            var account = PostAccount(id: postIDs[isSplit ? number / 2 : number])
            account.tally = tally
            account.number =
                switch self {
                case .scores: .score
                case .directions: number.isMultiple(of: 2) ? .upvotes : .downvotes
                case .ballots: number.isMultiple(of: 2) ? .ballotsUp : .ballotsDown
                }
            return account
        }
    }
}

extension RunRecord {
    /// Reads the record in the JSON report of an earlier run; refuses a file that is no report or
    /// is incomplete.
    package init(readingReport path: String) throws(RunFailure) {
        let file: ReportFile
        do {
            let bytes = try Data(contentsOf: URL(filePath: path))
            file = try JSONDecoder().decode(ReportFile.self, from: bytes)
        } catch let error as DecodingError {
            throw .badRecord(path, Self.cause(error))
        } catch {
            throw .badRecord(path, error.localizedDescription)
        }
        guard file.schema == 1 else {
            throw .badRecord(path, "The report has schema \(file.schema); this program reads 1.")
        }
        guard let members = file.record else {
            throw .badRecord(path, "The run made no posts, so there is nothing to audit.")
        }
        guard let record = members.record else {
            throw .badRecord(path, "The numbers of its record do not fit together.")
        }
        self = record
    }

    private static func cause(_ error: DecodingError) -> String {
        switch error {
        case .dataCorrupted(let context) where context.codingPath.isEmpty:
            "The file is no JSON, or not all of it."
        case .keyNotFound(let key, _):
            "The file is no JSON report of loadgen: it has no \"\(key.stringValue)\"."
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .dataCorrupted(let context):
            """
            The file is no JSON report of loadgen: \
            "\(context.codingPath.map(\.stringValue).joined(separator: "."))" is not what it has there.
            """
        @unknown default: "The file is no JSON report of loadgen."
        }
    }
}

private struct ReportFile: Decodable {
    var schema: Int
    var record: RunRecordJSON?
}

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

    init(_ record: RunRecord) {
        func pairs(_ count: (PostAccount) -> UInt64) -> [UInt64] {
            record.accounts.enumerated().filter { count($1) > 0 }.flatMap {
                [UInt64($0), count($1)]
            }
        }
        instance = RunRecord.name(record.instanceID)
        feed = record.feed
        feeds = record.feeds.map { Feed(name: $0.name, posts: NumberRanges.encode($0.ids)) }
        startMilliseconds = record.startMilliseconds
        endMilliseconds = record.endMilliseconds
        tallied = record.tallied.rawValue
        posts = NumberRanges.encode(record.postIDs)
        acknowledged = record.accounts.map(\.tally.acknowledged)
        scoreSums = record.accounts.map(\.tally.scoreSum)
        squareSums = record.accounts.map(\.tally.squareSum)
        unknown = pairs(\.unknownCount)
        failed = pairs(\.errorCount)
        repeated = pairs(\.repeatedCount)
        created = NumberRanges.encode(record.createdIDs)
        unknownTitles = record.unknownTitles
    }

    /// The record, if its parts fit together.
    var record: RunRecord? {
        guard let instanceID = UInt64(instance, radix: 16),
            let tallied = Tallied(rawValue: tallied),
            let ids = NumberRanges.decode(posts, limit: Self.maximumPostCount),
            let createdIDs = NumberRanges.decode(created, limit: Self.maximumPostCount - ids.count)
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
        var record = RunRecord()
        (record.instanceID, record.feed, record.feeds) = (instanceID, feed, feeds)
        record.startMilliseconds = startMilliseconds
        record.endMilliseconds = endMilliseconds
        record.tallied = tallied
        record.accounts = tallied.accounts(
            ids,
            (0..<count).map { number in
                VoteTally(
                    acknowledged: acknowledged[number],
                    scoreSum: scoreSums[number],
                    squareSum: squareSums[number]
                )
            }
        )
        (record.createdIDs, record.unknownTitles) = (createdIDs, unknownTitles)
        for (number, count) in unknown { record.accounts[number].unknownCount = count }
        for (number, count) in failed { record.accounts[number].errorCount = count }
        for (number, count) in repeated { record.accounts[number].repeatedCount = count }
        return record
    }

    /// More posts than any run has and creates.
    private static let maximumPostCount = 100_000_000
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

/// Numbers as runs of consecutive ones, each given by its first number and its length.
///
/// The ids of posts made in order are a few runs, however many posts there are.
package enum NumberRanges {
    /// The runs of `numbers`, in their order: first, length, first, length, ….
    package static func encode(_ numbers: some Sequence<UInt64>) -> [UInt64] {
        var runs: [UInt64] = []
        for number in numbers {
            // The last number is compared: there may be none behind it.
            if let last = runs.indices.last, number > 0,
                runs[last - 1] + (runs[last] - 1) == number - 1
            {
                runs[last] += 1
            } else {
                runs += [number, 1]
            }
        }
        return runs
    }

    /// The numbers of `runs`; nil where these are invalid or stand for more than `limit` numbers.
    ///
    /// 2^64 - 1 is in no run: none could end behind it.
    package static func decode(_ runs: [UInt64], limit: Int) -> [UInt64]? {
        guard runs.count.isMultiple(of: 2) else { return nil }
        var numbers: [UInt64] = []
        for place in stride(from: 0, to: runs.count, by: 2) {
            let (end, isTooLarge) = runs[place].addingReportingOverflow(runs[place + 1])
            guard !isTooLarge, runs[place + 1] <= UInt64(limit - numbers.count) else { return nil }
            numbers += runs[place]..<end
        }
        return numbers
    }
}
