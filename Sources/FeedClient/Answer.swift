public import FeedProto

/// What the service answered, and from which state.
public struct Answer: Sendable, Equatable {
    /// The answer.
    public var response: Response
    /// The revision of the state that the answer reflects.
    ///
    /// Ask for it on another connection to read there what was written here.
    public var revision: UInt64

    /// An answer; programs make one in their tests.
    public init(response: Response, revision: UInt64) {
        self.response = response
        self.revision = revision
    }
}
