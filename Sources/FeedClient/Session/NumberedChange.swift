package import FeedProto

/// A change with a sequence that its caller has chosen and kept, so that another process can send it
/// again.
package struct NumberedChange: Sendable {
    /// The change; one that takes a sequence.
    package let request: Request
    /// Its sequence on the channel of the client, above 0.
    package let sequence: UInt64
    /// Whether it may have left before: then it ends in doubt where the service no longer knows.
    package let mayHaveLeft: Bool

    /// A change and its sequence.
    package init(_ request: Request, sequence: UInt64, mayHaveLeft: Bool) {
        precondition(request.takesSequence && sequence > 0, "Only changes have sequences above 0.")
        self.request = request
        self.sequence = sequence
        self.mayHaveLeft = mayHaveLeft
    }
}
