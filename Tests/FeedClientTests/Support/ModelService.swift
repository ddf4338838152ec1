import FeedProto

/// A service in a few lines, as docs/PROTOCOL.md describes one: independent of the client's code.
///
/// It executes frames in their order, remembers numbered calls in a window, and counts how often
/// each change was applied. Changes are told apart by the post that they name.
struct ModelService {
    /// How often each change was applied, over all instances of the state.
    private(set) var applied: [UInt64: Int] = [:]
    /// What broke a rule of the protocol that the client must keep.
    private(set) var faults: [String] = []

    /// The last frame of the connection that it executed or refused.
    private(set) var lastID: UInt64 = 0

    private var instance: UInt64 = 1
    /// The executed numbers of the one channel, with the change of each; nil where it is forgotten.
    private var record: [UInt64: UInt64]?
    private var highest: UInt64 = 0
    private var hasHello = false
    private let window: UInt64
    private let offersSequences: Bool

    init(window: UInt64, offersSequences: Bool) {
        self.window = window
        self.offersSequences = offersSequences
    }

    /// A connection begins.
    mutating func accept() {
        lastID = 0
        hasHello = false
    }

    /// The service forgets the channel.
    mutating func forget() {
        record = nil
        highest = 0
    }

    /// The service starts with an empty state.
    mutating func replaceState() {
        instance += 1
        forget()
    }

    /// Answers Hello.
    mutating func answerHello(inFlight: UInt32) -> Response {
        hasHello = true
        lastID = 1
        let isKnown = record != nil
        if offersSequences, record == nil { record = [:] }
        return SessionHarness.hello(
            inFlight: inFlight,
            window: UInt32(window),
            instance: instance,
            isKnown: isKnown,
            last: highest,
            capabilities: offersSequences ? [.exactlyOnce] : []
        )
    }

    /// Executes a frame; a refusal is what the service has against it, where it has something.
    mutating func execute(_ frame: ClientFrame, refusal: Status?) -> ServerFrame {
        if frame.id <= lastID { faults.append("Frame \(frame.id) came after frame \(lastID).") }
        lastID = frame.id
        if !hasHello { faults.append("Frame \(frame.id) came before Hello.") }
        guard case .castVote(let vote) = frame.request else {
            if frame.sequence > 0 { faults.append("A read has a sequence.") }
            return answer(frame, refusal)
        }
        guard frame.sequence > 0 else {
            if refusal == nil { applied[vote.postID, default: 0] += 1 }
            return answer(frame, refusal)
        }
        guard let known = record else {
            faults.append("A sequence came without a channel.")
            return answer(frame, refusal)
        }
        if let change = known[frame.sequence] {
            return answer(frame, change == vote.postID ? nil : failure(.sequenceReused))
        }
        guard frame.sequence + window > highest else {
            return answer(frame, failure(.sequenceExpired))
        }
        guard refusal == nil else { return answer(frame, refusal) }
        applied[vote.postID, default: 0] += 1
        highest = max(highest, frame.sequence)
        record?[frame.sequence] = vote.postID
        record = record?.filter { $0.key + window > highest }
        return answer(frame, nil)
    }

    private func failure(_ reason: Reason) -> Status {
        Status(code: .failedPrecondition, reason: reason, message: "", isNotExecuted: false)
    }

    private func answer(_ frame: ClientFrame, _ status: Status?) -> ServerFrame {
        guard let status else { return ServerFrame(id: frame.id, revision: 1, response: .empty) }
        return ServerFrame(id: frame.id, revision: 1, status: status)
    }
}
