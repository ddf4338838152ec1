internal import Foundation

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

/// The part of a report that is read.
private struct ReportFile: Decodable {
    var schema: Int
    var record: Members?

    struct Feed: Decodable {
        var name: String
        var posts: [UInt64]
    }

    /// The members of `record` as they are written.
    struct Members: Decodable {
        var instance: String
        var feed: String
        var feeds: [Feed]
        var startMilliseconds: Int64
        var endMilliseconds: Int64
        var tallied: String
        var posts: [UInt64]
        var acknowledged: [UInt64]
        var scoreSums: [UInt64]
        var squareSums: [UInt64]
        var unknown: [UInt64]
        var failed: [UInt64]
        var repeated: [UInt64]
        var created: [UInt64]
        var unknownTitles: [String]

        private enum CodingKeys: String, CodingKey {
            case instance, feed, feeds, tallied, posts, acknowledged
            case unknown, failed, repeated, created
            case startMilliseconds = "start_ms"
            case endMilliseconds = "end_ms"
            case scoreSums = "score_sums"
            case squareSums = "square_sums"
            case unknownTitles = "unknown_titles"
        }
    }
}

extension ReportFile.Members {
    /// The record, if its parts fit together.
    var record: RunRecord? {
        guard let instanceID = UInt64(instance, radix: 16),
            let tallied = Tallied(rawValue: tallied),
            let ids = NumberRanges.decode(posts, limit: Self.maximumPostCount),
            let createdIDs = NumberRanges.decode(created, limit: Self.maximumPostCount)
        else { return nil }
        let count = tallied == .directions ? 2 * ids.count : ids.count
        guard acknowledged.count == count, scoreSums.count == count, squareSums.count == count,
            let unknown = Self.counts(unknown, below: count),
            let failed = Self.counts(failed, below: count),
            let repeated = Self.counts(repeated, below: count),
            [acknowledged, Array(unknown.values), Array(failed.values)]
                .allSatisfy({ $0.allSatisfy { $0 <= Self.maximumVoteCount } })
        else { return nil }
        var feeds: [RunRecord.Feed] = []
        for feed in self.feeds {
            guard let ids = NumberRanges.decode(feed.posts, limit: Self.maximumPostCount) else {
                return nil
            }
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
                var tally = VoteTally()
                tally.acknowledged = acknowledged[number]
                tally.scoreSum = scoreSums[number]
                tally.squareSum = squareSums[number]
                return tally
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

    /// More posts than any run creates.
    private static let maximumPostCount = 100_000_000
    /// More votes than any run casts, and few enough to add.
    private static let maximumVoteCount: UInt64 = 1 << 53

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
