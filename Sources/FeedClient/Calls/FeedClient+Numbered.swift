import FeedProto

/// A client whose callers number their changes themselves, and keep the numbers beyond the process.
package protocol NumberedCalling: FeedCalling {
    /// Makes changes in their order, and waits until all have ended.
    func make(
        _ changes: [NumberedChange],
        timeout: Duration?
    ) async -> [Result<Answer, FeedClientError>]
}

extension FeedClient: NumberedCalling {
    /// Makes changes under sequences of the caller's own over the first connection, in order, and waits
    /// until all have ended.
    ///
    /// The client must have a fixed ``ClientConfiguration/channel``, and all changes on it must come
    /// through here: the client would number others itself. The caller keeps the sequences of a call
    /// within the service's window.
    ///
    /// - Parameters:
    ///   - changes: The changes, in the order of their sequences.
    ///   - timeout: How long all of them may take; nil is the client's timeout.
    /// - Returns: The result of each change, in their order.
    package func make(
        _ changes: [NumberedChange],
        timeout: Duration?
    ) async -> [Result<Answer, FeedClientError>] {
        await links.first.call(changes, timeout: timeout ?? self.timeout)
    }
}
