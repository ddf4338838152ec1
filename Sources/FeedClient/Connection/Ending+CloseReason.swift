import FeedTransport

extension Ending {
    /// What the end of a connection means for its calls.
    ///
    /// - Parameters:
    ///   - reason: Why the connection ended.
    ///   - isUnanswered: Whether Hello was sent without TLS, and nothing has come.
    init(_ reason: CloseReason, isUnanswered: Bool) {
        self =
            switch reason {
            case .local: .closed
            case .peerClosed where isUnanswered:
                .lost(
                    "The service closed the connection before it answered. Where its address is for "
                        + "TLS, the client has to use TLS, too."
                )
            case .peerClosed: .lost("The service closed the connection.")
            case .reset: .lost("The service or the network broke the connection.")
            case .idleTimeout: .lost("The service was silent for too long.")
            case .partialReadTimeout: .lost("The rest of a frame did not come.")
            case .overBudget: .lost("Too much was held for connections.")
            case .writeStalled: .lost("The service took nothing of what was sent.")
            case .connectFailed(let error): .cannotConnect(error.description)
            case .failed(let error): .lost(error.description)
            }
    }
}
