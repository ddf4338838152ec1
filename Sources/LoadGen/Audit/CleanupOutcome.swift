/// How `--cleanup` ended.
package enum CleanupOutcome: Sendable, Equatable {
    /// Every post that the run knows was deleted.
    case done(postCount: Int)
    /// Nothing was deleted: the audit failed, and what it found stays to be looked at.
    case kept
    /// A post could not be deleted; the text says why.
    case failed(postCount: Int, cause: String)

    /// Whether every post was deleted.
    package var isDone: Bool { if case .done = self { true } else { false } }

    /// Whether a post could not be deleted.
    package var isFailed: Bool { if case .failed = self { true } else { false } }

    /// The line of the report.
    var text: String {
        switch self {
        case .done(let count): "\(NumberFormat.count(UInt64(count))) posts deleted"
        case .kept: "none: what the audit found stays to be looked at"
        case .failed(let count, let cause):
            "NOT DONE after \(NumberFormat.count(UInt64(count))) posts: \(cause)"
        }
    }
}
