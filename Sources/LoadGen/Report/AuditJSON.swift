/// The audit in the JSON report: `passed` is null where there was none, and then there is a reason.
struct AuditJSON: Encodable {
    /// The reason of a run without an audit.
    static let notAskedFor = "not asked for"

    private(set) var passed = OrNull<Bool>(nil)
    private(set) var reason: String?
    private(set) var votesAcknowledged: UInt64?
    private(set) var votesUnknown: UInt64?
    private(set) var votesFailed: UInt64?
    private(set) var votesCounted: Int64?
    private(set) var posts: UInt64?
    private(set) var postsExact: UInt64?
    private(set) var postsCreated: UInt64?
    private(set) var postsListed: UInt64?
    private(set) var violations: [String: UInt64]?
    private(set) var examples: [String]?

    init(_ outcome: AuditOutcome) {
        switch outcome {
        case .skipped: reason = Self.notAskedFor
        case .impossible(let cause): reason = cause
        case .done(let summary):
            let findings = summary.findings
            passed = OrNull(findings.isEmpty)
            votesAcknowledged = summary.acknowledgedVoteCount
            votesUnknown = summary.unknownVoteCount
            votesFailed = summary.failedVoteCount
            votesCounted = summary.countedVoteCount
            posts = summary.postCount
            postsExact = summary.exactPostCount
            postsCreated = summary.createdPostCount
            postsListed = summary.listedPostCount
            violations = Dictionary(
                uniqueKeysWithValues: findings.counts.map { ($0.key.rawValue, $0.value) }
            )
            examples = findings.examples
        }
    }
}
