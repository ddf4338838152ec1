import FeedProto
import FeedTransport

/// An answer that the protocol does not allow; its connection is reset.
enum ProtocolViolation: Error, Equatable, CustomStringConvertible {
    /// The bytes are no frame.
    case badFrame(FrameError)
    /// The frame is no message.
    case badMessage(MessageError)
    /// The bytes are no reply of RESP2.
    case badReply(RESPError)
    /// Another answer was due.
    case outOfOrder(received: UInt64, due: UInt64)
    /// The answer belongs to no request.
    case unasked(UInt64)
    /// The answer to one request looks like the answer to another.
    case wrongAnswer(id: UInt64, expected: String)
    /// The vote counted for another post.
    case wrongPost(id: UInt64, received: UInt64, expected: UInt64)
    /// A result of a batch is neither a vote nor a status, or both.
    case wrongResult(id: UInt64, number: Int)
    /// The number of results differs from the number of votes in the batch.
    case wrongResultCount(id: UInt64, received: Int, expected: Int)

    /// What arrived and what was due.
    var description: String {
        switch self {
        case .badFrame(let error): error.description
        case .badMessage(let error): error.description
        case .badReply(let error): error.description
        case .outOfOrder(let received, let due):
            "Answer \(received) came where answer \(due) was due."
        case .unasked(let id): "Answer \(id) came to no request."
        case .wrongAnswer(let id, let expected): "Answer \(id) is not the answer to a \(expected)."
        case .wrongResultCount(let id, let received, let expected):
            "Answer \(id) has \(received) results, the batch had \(expected) votes."
        case .wrongResult(let id, let number):
            "Result \(number) of answer \(id) is not one of a vote and a status."
        case .wrongPost(let id, let received, let expected):
            "Answer \(id) is about post \(received), the vote was on post \(expected)."
        }
    }
}

extension Failures.Cause {
    /// The cause of a connection that never opened.
    init(connect error: TransportError) {
        switch error {
        case .tooManyOpenFiles: self = .tooManyOpenFiles
        case .addressNotAvailable: self = .addressNotAvailable
        case .connectionRefused: self = .refused
        case .connectionReset: self = .reset
        case .endOfFile: self = .endOfFile
        case .timedOut: self = .connectTimeout
        default: self = .other
        }
    }

    /// The cause of an open connection's end; nil where this side ended it and counted that itself.
    init?(_ reason: CloseReason) {
        switch reason {
        case .local: return nil
        case .peerClosed: self = .endOfFile
        case .reset: self = .reset
        case .connectFailed(let error), .failed(let error): self = Self(connect: error)
        case .idleTimeout, .partialReadTimeout, .writeStalled, .overBudget: self = .other
        }
    }
}
