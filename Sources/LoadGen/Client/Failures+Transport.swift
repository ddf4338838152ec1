import FeedTransport

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
