package import FeedClient
internal import FeedProto
internal import FeedRanking

/// The numbered changes of a channel that were executed, by which none is executed twice.
struct MemoryChannel {
    /// A client id, and the number that the client has chosen.
    struct ID: Hashable {
        let device: Device16
        let number: UInt32
    }

    /// How many changes are remembered, as by the service.
    private static let windowCount: UInt64 = 256

    private(set) var lastSequence: UInt64 = 0
    private var changes: [UInt64: (request: Request, answer: Answer)] = [:]

    /// The answer to a change that was executed before; nil of another one.
    func answer(to change: NumberedChange) throws(FeedClientError) -> Answer? {
        if let known = changes[change.sequence] {
            guard known.request == change.request else { throw .inDoubt(.sequenceReused) }
            return known.answer
        }
        guard change.sequence + Self.windowCount > lastSequence else {
            throw .inDoubt(.sequenceExpired)
        }
        return nil
    }

    mutating func keep(_ answer: Answer, to change: NumberedChange) {
        lastSequence = max(lastSequence, change.sequence)
        changes[change.sequence] = (change.request, answer)
        if change.sequence > Self.windowCount {
            changes[change.sequence - Self.windowCount] = nil
        }
    }
}

extension InMemoryFeedClient: NumberedCalling {
    /// Makes changes under sequences of the caller's own: one whose call has failed may be sent again.
    package func make(
        _ changes: [NumberedChange],
        timeout: Duration?
    ) async -> [Result<Answer, FeedClientError>] {
        changes.map { change in
            Result { () throws(FeedClientError) in
                try answer(to: change.request, numbered: change)
            }
        }
    }
}
