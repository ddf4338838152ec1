/// The member `record` of the JSON report: what `--verify-only` reads.
enum RunRecordJSON {
    /// The member; null where a run made no posts.
    static func value(_ record: RunRecord?) -> JSONValue {
        guard let record else { return .null }
        return .object([
            ("instance", .string(RunRecord.name(record.instanceID))),
            ("feed", .string(record.feed)),
            ("feeds", .array(record.feeds.map(feed))),
            ("start_ms", .integer(record.startMilliseconds)),
            ("end_ms", .integer(record.endMilliseconds)),
            ("tallied", .string(record.tallied.rawValue)),
            ("posts", .counts(NumberRanges.encode(record.posts))),
            ("acknowledged", .counts(record.tallies.map(\.acknowledged))),
            ("score_sums", .counts(record.tallies.map(\.scoreSum))),
            ("square_sums", .counts(record.tallies.map(\.squareSum))),
            ("unknown", pairs(record.unknown)),
            ("failed", pairs(record.failed)),
            ("repeated", pairs(record.repeated)),
            ("created", .counts(NumberRanges.encode(record.createdIDs))),
            ("unknown_titles", .array(record.unknownTitles.map(JSONValue.string))),
        ])
    }

    private static func feed(_ feed: RunRecord.Feed) -> JSONValue {
        .object([
            ("name", .string(feed.name)), ("posts", .counts(NumberRanges.encode(feed.ids))),
        ])
    }

    private static func pairs(_ counts: [Int: UInt64]) -> JSONValue {
        .counts(counts.sorted { $0.key < $1.key }.flatMap { [UInt64($0.key), $0.value] })
    }
}
