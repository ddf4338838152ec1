/// What an audit found: the count of each violation, and the first examples as sentences.
package struct Findings: Sendable, Equatable {
    package internal(set) var counts: [Violation: UInt64] = [:]
    package internal(set) var examples: [String] = []

    package init() {}

    package var isEmpty: Bool { counts.isEmpty }

    /// Notes `count` cases of `violation`; the first of all cases keep their `example`.
    package mutating func note(
        _ violation: Violation,
        count: UInt64 = 1,
        _ example: @autoclosure () -> String
    ) {
        counts[violation] = (counts[violation] ?? 0).addingClamped(count)
        if examples.count < Self.maximumExampleCount { examples.append(example()) }
    }

    /// Adds what another thread or another part of the audit found.
    package mutating func add(_ other: Findings) {
        counts.merge(other.counts) { $0.addingClamped($1) }
        examples.append(
            contentsOf: other.examples.prefix(Self.maximumExampleCount - examples.count)
        )
    }

    /// A handful shows the pattern; a report of thousands would hide it.
    private static let maximumExampleCount = 10
}

/// One way in which a service's numbers can contradict its answers.
package enum Violation: String, Sendable, CaseIterable {
    case lostVote = "acknowledged votes lost"
    case extraVote = "votes counted twice or never sent"
    case countedError = "votes counted although answered with an error"
    case brokenSequence = "posts with a duplicate or missing score in the answers"
    case fallingScore = "answers whose score did not rise on their connection"
    case wrongBallot = "votes answered with another ballot than the voter's last"
    case wrongScore = "posts whose score is not upvotes minus downvotes"
    case missingPost = "posts of the run that cannot be read"
    case pageOrder = "posts out of order on pages"
    case listedTwice = "posts listed twice"
    case stalePage = "posts on pages without votes acknowledged before"
    case notListed = "posts of the run that no page lists"
    /// A walk shows a score that differs from the score of the post after sending had ended.
    case movingScore = "posts whose score moved after the run (other traffic?)"
    case walkCount = "walks with another number of posts than announced"
    case notAsPlanned = "counts that are not those of the file"
    case changedContent = "posts that are not as they were imported"
    case otherState = "services with another state than in the run"
    case phantomPost = "posts that no request created"
}

package enum AuditOutcome: Sendable, Equatable {
    case skipped
    /// The audit could not be done; the text says why.
    case impossible(String)
    case done(AuditSummary)

    /// Whether the audit was done and found nothing.
    package var isPassed: Bool {
        if case .done(let summary) = self { summary.findings.isEmpty } else { false }
    }

    /// Whether the audit was done and found something.
    package var isFailed: Bool {
        if case .done(let summary) = self { !summary.findings.isEmpty } else { false }
    }
}

package struct AuditSummary: Sendable, Equatable {
    package var acknowledgedVoteCount: UInt64 = 0
    /// Votes without an answer.
    package var unknownVoteCount: UInt64 = 0
    package var failedVoteCount: UInt64 = 0
    package var countedVoteCount: Int64 = 0
    /// Posts of the run whose score equals what their acknowledged votes add up to.
    package var exactPostCount: UInt64 = 0
    /// Posts of the run that received votes.
    package var postCount: UInt64 = 0
    /// Posts that acknowledged requests created during the run.
    package var createdPostCount: UInt64 = 0
    package var listedPostCount: UInt64 = 0
    package var findings = Findings()

    package init() {}
}

package enum CleanupOutcome: Sendable, Equatable {
    /// Every post that the run knows was deleted.
    case done(postCount: Int)
    /// Nothing was deleted: the audit failed, and what it found stays to be looked at.
    case kept
    /// A post could not be deleted; the text says why.
    case failed(postCount: Int, cause: String)

    package var isDone: Bool { if case .done = self { true } else { false } }

    package var isFailed: Bool { if case .failed = self { true } else { false } }

    var text: String {
        switch self {
        case .done(let count): "\(NumberFormat.count(UInt64(count))) posts deleted"
        case .kept: "none: what the audit found stays to be looked at"
        case .failed(let count, let cause):
            "NOT DONE after \(NumberFormat.count(UInt64(count))) posts: \(cause)"
        }
    }
}

/// The object has `passed`. It is null if there was no audit, and then there is a reason.
extension AuditOutcome: Codable {
    private static let notAskedFor = "not asked for"

    package func encode(to encoder: any Encoder) throws {
        var writer = encoder.container(keyedBy: MemberKey.self)
        switch self {
        case .skipped: try Self.encode(reason: Self.notAskedFor, to: &writer)
        case .impossible(let cause): try Self.encode(reason: cause, to: &writer)
        case .done(let summary):
            try writer.encode(summary.findings.isEmpty, forKey: "passed")
            try summary.encode(to: encoder)
        }
    }

    private static func encode(
        reason: String,
        to writer: inout KeyedEncodingContainer<MemberKey>
    ) throws {
        try writer.encodeNil(forKey: "passed")
        try writer.encode(reason, forKey: "reason")
    }

    package init(from decoder: any Decoder) throws {
        let reader = try decoder.container(keyedBy: MemberKey.self)
        guard try reader.decodeIfPresent(Bool.self, forKey: "passed") == nil else {
            self = .done(try AuditSummary(from: decoder))
            return
        }
        let reason = try reader.decodeIfPresent(String.self, forKey: "reason") ?? ""
        self = reason == Self.notAskedFor ? .skipped : .impossible(reason)
    }
}

extension AuditSummary: JSONReadable {
    package static var unread: AuditSummary { AuditSummary() }

    package static let members: [Member<AuditSummary>] = [
        .usual("votes_acknowledged", \.acknowledgedVoteCount, .count),
        .usual("votes_unknown", \.unknownVoteCount, .count),
        .usual("votes_failed", \.failedVoteCount, .count),
        .usual("votes_counted", \.countedVoteCount, .within(-1 << 50...1 << 50)),
        .usual("posts", \.postCount, .count),
        .usual("posts_exact", \.exactPostCount, .count),
        .usual("posts_created", \.createdPostCount, .count),
        .usual("posts_listed", \.listedPostCount, .count),
        .usual("violations", \.findings.counts.byName, .counts),
        .usual("examples", \.findings.examples, .plain),
    ]
}
