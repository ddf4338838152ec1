/// How far the backup under way is, as a value: the caller does the work, and tells what happened.
///
///           begin                                                    complete
///     idle ───────► waiting ──────► copying ──────► verifying ──────► finishing ──────► idle
///                      │ cancel        │ cancel        │ cancel           │ end
///                      ▼               ▼               ▼                  ▼
///                    idle           cancelled ◄────────┘                idle
///                                      │ end
///                                      ▼
///                                    idle
///
/// Each phase in which a client waits owns its request: an answer is given once, to the request that
/// a transition returns.
package enum BackupPhase<Request> {
    case idle
    /// All records up to one have to be checkpointed first.
    case waiting(Request, through: UInt64)
    case copying(Request)
    /// All is read; the copy is checked.
    case verifying(Request)
    /// The copy is whole; it gets its name, and old ones go.
    case finishing(Request)
    /// The request is answered; the thread of the copy is about to remove what it has copied.
    case cancelled

    package var isIdle: Bool {
        if case .idle = self { true } else { false }
    }

    /// The request that is not answered yet; nil where there is none.
    package var request: Request? {
        switch self {
        case .idle, .cancelled: nil
        case .waiting(let request, through: _), .copying(let request), .verifying(let request),
            .finishing(let request):
            request
        }
    }

    package var isVerifying: Bool {
        if case .verifying = self { true } else { false }
    }

    package var isReading: Bool {
        if case .copying = self { true } else { false }
    }

    /// The record up to which all have to be checkpointed before the copy; nil where none waits.
    package var wantedRecord: UInt64? {
        if case .waiting(_, through: let number) = self { number } else { nil }
    }

    package mutating func begin(_ request: Request, through number: UInt64) -> Bool {
        guard isIdle else { return false }
        self = .waiting(request, through: number)
        return true
    }

    /// All records are checkpointed and the file is held still; false where the request was cancelled before.
    package mutating func beginCopying() -> Bool {
        switch self {
        case .idle: return false
        case .waiting(let request, through: _):
            self = .copying(request)
            return true
        case .copying, .verifying, .finishing, .cancelled:
            preconditionFailure("A copy begins after the one before it has ended.")
        }
    }

    /// All is read; false where the backup was cancelled before.
    package mutating func beginVerifying() -> Bool {
        switch self {
        case .copying(let request):
            self = .verifying(request)
            return true
        case .cancelled: return false
        case .idle, .waiting, .verifying, .finishing:
            preconditionFailure("A backup is checked once, after its copy.")
        }
    }

    /// The copy has passed its check; false where the backup was cancelled before.
    package mutating func beginFinishing() -> Bool {
        switch self {
        case .verifying(let request):
            self = .finishing(request)
            return true
        case .cancelled: return false
        case .idle, .waiting, .copying, .finishing:
            preconditionFailure("A backup is finished once, after its check.")
        }
    }

    package mutating func complete() -> Request {
        guard case .finishing(let request) = self else {
            preconditionFailure("A backup is complete after it was finished.")
        }
        self = .idle
        return request
    }

    /// The copy has ended without a backup: the request is to be answered, unless that was cancelled.
    package mutating func end() -> Request? {
        defer { self = .idle }
        switch self {
        case .copying(let request), .verifying(let request), .finishing(let request):
            return request
        case .cancelled: return nil
        case .idle, .waiting: preconditionFailure("A copy that has not begun cannot end.")
        }
    }

    /// The backup is not wanted any more, or not possible: the request is to be answered; nil where there
    /// is nothing to cancel, or the copy gets its name.
    package mutating func cancel() -> Request? {
        switch self {
        case .idle, .finishing, .cancelled: return nil
        case .waiting(let request, through: _):
            self = .idle
            return request
        case .copying(let request), .verifying(let request):
            self = .cancelled
            return request
        }
    }
}

extension BackupPhase: Sendable where Request: Sendable {}
extension BackupPhase: Equatable where Request: Equatable {}
