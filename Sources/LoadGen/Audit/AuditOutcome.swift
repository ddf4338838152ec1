/// How the audit ended.
package enum AuditOutcome: Sendable, Equatable {
    /// The audit was not requested.
    case skipped
    /// The audit could not be done; the text says why.
    case impossible(String)
    /// The audit was done.
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

/// What an audit compared and found.
package struct AuditSummary: Sendable, Equatable {
    /// Votes answered with success.
    package var acknowledgedVoteCount: UInt64 = 0
    /// Votes without an answer.
    package var unknownVoteCount: UInt64 = 0
    /// Votes answered with an error.
    package var failedVoteCount: UInt64 = 0
    /// Votes that the service counted.
    package var countedVoteCount: Int64 = 0
    /// Posts of the run whose score equals what their acknowledged votes add up to.
    package var exactPostCount: UInt64 = 0
    /// Posts of the run that received votes.
    package var postCount: UInt64 = 0
    /// Posts that acknowledged requests created during the run.
    package var createdPostCount: UInt64 = 0
    /// Posts that the walk over all pages saw.
    package var listedPostCount: UInt64 = 0
    /// Everything that contradicts the answers.
    package var findings = Findings()

    /// Nothing compared.
    package init() {}
}
