/// The audit in the JSON report.
enum AuditJSON {
    /// The member `audit`: `passed` is null where there was none.
    static func value(_ outcome: AuditOutcome) -> JSONValue {
        switch outcome {
        case .skipped: return .object([("passed", .null), ("reason", .string("not asked for"))])
        case .impossible(let reason):
            return .object([("passed", .null), ("reason", .string(reason))])
        case .done(let summary):
            let counts = summary.findings.counts.sorted { $0.key.rawValue < $1.key.rawValue }
            return .object([
                ("passed", .bool(summary.findings.isEmpty)),
                ("votes_acknowledged", .count(summary.acknowledgedVoteCount)),
                ("votes_unknown", .count(summary.unknownVoteCount)),
                ("votes_failed", .count(summary.failedVoteCount)),
                ("votes_counted", .integer(summary.countedVoteCount)),
                ("posts", .count(summary.postCount)),
                ("posts_exact", .count(summary.exactPostCount)),
                ("posts_created", .count(summary.createdPostCount)),
                ("posts_listed", .count(summary.listedPostCount)),
                ("violations", .object(counts.map { ($0.key.rawValue, .count($0.value)) })),
                ("examples", .array(summary.findings.examples.map(JSONValue.string))),
            ])
        }
    }
}
