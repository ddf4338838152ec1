internal import FeedRanking

/// Who calls on a connection.
struct MemoryCaller: Sendable {
    /// The number of its client.
    let number: UInt64
    /// The device of its client id; nil is none.
    var device: Device16?
    /// Whether it is a service.
    var isService: Bool
    /// The token of its session; empty is none.
    var token: [UInt8] = []
    /// The revision of its last change, which its stable pages show.
    var lastChange: UInt64 = 0
}

/// What a call says beside its request.
struct MemoryCall {
    /// The revision that the answer must not be older than; 0 is any.
    let minimumRevision: UInt64
    /// The user whom the call acts for; 0 is the caller itself.
    let actingUserID: UInt64
}

/// The one who a call is of: a user, or else a device, or nobody.
struct MemoryViewer {
    /// The user; 0 is none.
    var userID: UInt64
    /// The name of the user's account; nil is none.
    var name: String?
    /// The key of ballots and marks; nil has neither.
    var key: VoterKey?
}
