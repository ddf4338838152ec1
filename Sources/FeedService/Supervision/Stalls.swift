internal import FeedConcurrency
internal import Synchronization

/// What stands still now, as ``StallWatch`` finds it; any thread reads it.
package final class Stalls: Sendable {
    /// What may stand still.
    package enum Subject: Hashable, Sendable, Comparable {
        /// The oldest log entry waits for its commit.
        case commit
        /// The event loop of this number does not come to its next iteration.
        case loop(Int)
        /// The checkpoint thread does not come to its next step.
        case checkpoint
        /// A call of the backup under way does not return.
        case backup

        /// What stands still for so long is a line of the log: a call waits for a commit or a loop at once.
        var noticeTime: Duration {
            switch self {
            case .commit, .loop: .seconds(2)
            case .checkpoint, .backup: .seconds(10)
            }
        }

        /// Whether calls wait for it: then it is a cause not to be ready.
        var isAwaited: Bool { noticeTime == .seconds(2) }
    }

    /// What has begun to stand still, or goes on.
    package enum News: Equatable, Sendable {
        /// It has stood still for its ``Subject/noticeTime`` or longer.
        case stands(Subject, Duration)
        /// It goes on, after so long.
        case goesOn(Subject, after: Duration)
    }

    private let limit: Duration
    private let standing = Lock<[Subject: Duration]>([:])
    private let commit = Atomic(false)

    /// Nothing stands still yet.
    ///
    /// - Parameter limit: The time after which it is a cause not to be ready, and a commit one to refuse
    ///   calls.
    package init(limit: Duration) { self.limit = limit }

    /// Whether a commit has stood still for so long that calls are refused.
    package var isCommitStalled: Bool { commit.load(ordering: .relaxed) }

    /// A commit has come to its end.
    package func commitEnded() {
        if isCommitStalled { commit.store(false, ordering: .relaxed) }
    }

    /// How long each subject has stood still that does so for its ``Subject/noticeTime`` or longer.
    package var times: [Subject: Duration] { standing.withLock { $0 } }

    /// The subjects that calls wait for and that have stood still for the limit or longer, with their times.
    package var overLimit: [(subject: Subject, time: Duration)] {
        // A commit that has ended stands until the next look, but calls are taken again at once.
        times.filter { $0.key.isAwaited }
            .filter { $0.key == .commit ? isCommitStalled : isOverLimit($0.value) }
            .sorted { $0.key < $1.key }.map { (subject: $0.key, time: $0.value) }
    }

    /// Notes how long a subject has stood still, nil if it goes on; for the thread of the watch.
    ///
    /// - Returns: The news, if there are any.
    package func note(_ subject: Subject, _ time: Duration?) -> News? {
        if subject == .commit { commit.store(time.map(isOverLimit) ?? false, ordering: .relaxed) }
        return standing.withLock { standing in
            guard let time, time >= subject.noticeTime else {
                return standing.removeValue(forKey: subject).map { .goesOn(subject, after: $0) }
            }
            let isNew = standing.updateValue(time, forKey: subject) == nil
            return isNew ? .stands(subject, time) : nil
        }
    }

    /// The watch looks again an interval later, which must not be too late.
    private func isOverLimit(_ time: Duration) -> Bool { time + StallWatch.interval > limit }
}
