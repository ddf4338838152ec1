internal import FeedCalls
internal import FeedConcurrency
internal import FeedProto
internal import FeedState

/// Why the service takes no changes now.
enum ChangeRefusal {
    case commitStalled(Duration)
    case overloaded(limitByteCount: Int)
    case clockJumped(byMilliseconds: Int64)
    /// The disk has too little room for more changes.
    case diskFull(freeByteCount: Int, writableByteCount: Int)
    case commitsBehind
    case checkpointsBehind(CheckpointBacklog, retryTime: Duration)

    var status: Status {
        switch self {
        case .commitStalled(let time): .commitStalled(time)
        case .overloaded(let limitByteCount): .overloaded(limit: limitByteCount)
        case .clockJumped(let milliseconds): .clockJumped(by: milliseconds)
        case .diskFull(let freeByteCount, let writableByteCount):
            .readOnly(freeByteCount: freeByteCount, writableByteCount: writableByteCount)
        case .commitsBehind: .journalBehind
        case .checkpointsBehind(let backlog, let retryTime):
            .checkpointsBehind(backlog, retryTime: retryTime)
        }
    }
}

extension ServiceContext {
    /// The cause for which all changes are refused now, nil if they are taken; a few atomic loads.
    var changeRefusal: ChangeRefusal? {
        if stalls.isCommitStalled { return stallRefusal }
        if isOverloaded { return .overloaded(limitByteCount: limits.maximumBufferedByteCount) }
        let jump = clock.jumpMilliseconds
        if jump != 0 { return .clockJumped(byMilliseconds: jump) }
        guard let journal = state?.journal else { return nil }
        if !journal.isWritable {
            return .diskFull(
                freeByteCount: journal.freeByteCount,
                writableByteCount: journal.writableByteCount
            )
        }
        switch journal.congestion {
        case nil: return nil
        case .journal: return .commitsBehind
        case .checkpoints(let backlog, let retryTime):
            return .checkpointsBehind(backlog, retryTime: retryTime)
        }
    }

    /// The refusal of calls while a commit stands still.
    ///
    /// The commit may have come to its end since the watch looked, and then nothing waits any more.
    var stallRefusal: ChangeRefusal {
        .commitStalled(max(state?.journal.oldestWait ?? .zero, stalls.times[.commit] ?? .zero))
    }

    func count(_ refusal: ChangeRefusal) {
        guard case .checkpointsBehind = refusal else { return }
        state?.journal.countRefusalByCheckpoints()
    }
}

extension Status {
    fileprivate static func commitStalled(_ time: Duration) -> Status {
        Status(
            code: .unavailable,
            reason: .overloaded,
            message: "The service's disk does not answer: a commit has stood still for "
                + "\(Int(time / .seconds(1))) s, and nothing that may show it is answered.",
            retryAfterMilliseconds: 2000
        )
    }

    /// Whether the call was refused because a commit stands still.
    var isOfStall: Bool { code == .unavailable && reason == .overloaded }

    fileprivate static func checkpointsBehind(
        _ backlog: CheckpointBacklog,
        retryTime: Duration
    ) -> Status {
        Status(
            .overloaded,
            "\(backlog.pendingByteCount) bytes of changes wait to be written to the "
                + "state database, of at most \(backlog.limitByteCount); changes are slowed from "
                + "half of them on, and reads are served.",
            retryMilliseconds: UInt32(clamping: retryTime.millisecondsRoundedDown)
        )
    }
}
