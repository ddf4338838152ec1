import FeedClient
public import FeedProto

/// A change that was made on this device and has no answer of the service yet.
public struct OutboxEntry: Sendable, Equatable {
    /// The number of the entry in its file, which no other entry gets.
    public let number: UInt64
    /// The call: CastVote, CreatePost, UpdatePost, DeletePost or MarkPosts.
    public let request: Request
    /// What has become of it.
    public let state: OutboxState
    /// The sequence that it was sent with; 0 before.
    public let sequence: UInt64
    /// The account as which it was made, and as which alone it is sent; 0 is the device, with nobody
    /// signed in.
    public let userID: UserID
    /// The id under which lists show the post that the entry creates; 0 for other calls.
    public let localPostID: PostID

    /// An entry as the file has it.
    package init(
        number: UInt64,
        request: Request,
        state: OutboxState,
        sequence: UInt64,
        userID: UserID
    ) {
        self.number = number
        self.request = request
        self.state = state
        self.sequence = sequence
        self.userID = userID
        if case .createPost = request {
            localPostID = LocalPostID.id(entry: number)
        } else {
            localPostID = 0
        }
    }
}

extension OutboxEntry {
    /// Why the change was not made, or may not have been, in a word for programs; nil if it waits.
    public var reason: Reason? {
        switch state {
        case .waiting, .sent: nil
        case .failed(let status): status.reason
        case .inDoubt: .inDoubt
        }
    }
}

/// What has become of a change in the outbox.
public enum OutboxState: Sendable, Equatable {
    /// It has not been sent. It waits for a service, for its account to sign in, or for the post that it
    /// is about.
    case waiting
    /// It may have been sent, and is sent again with its sequence.
    case sent
    /// The service refused it: it had no effect. The program shows it, and drops or resends it.
    case failed(Status)
    /// It may have been executed, and the service cannot tell. The program decides: resend or drop.
    case inDoubt(OutboxDoubt)
}

/// Why it is unknown whether a change of the outbox was executed.
public enum OutboxDoubt: Int, Sendable, Hashable, CaseIterable {
    /// The service has another state: fresh, or restored from a backup.
    case stateReplaced = 1
    /// The service has forgotten the outbox's channel.
    case channelForgotten = 2
    /// Another program uses the client id and the channel.
    case channelTaken = 3
    /// The service has forgotten the sequence.
    case sequenceExpired = 4
    /// The service knows another change of the same sequence.
    case sequenceReused = 5
    /// The service knows sequences of the channel that the file has not given: the file is an old copy.
    case fileIsOld = 6
    /// The change names a post of another state of the service, and was not sent.
    case otherPosts = 7
    /// The service failed while it executed the change.
    case serviceFailed = 8
    /// The change was made as an account of another state of the service, and was not sent.
    case otherAccount = 9
    /// An earlier version made the change, and did not note as whom.
    case unknownUser = 10

    init(_ cause: InDoubtCause) {
        switch cause {
        case .stateReplaced: self = .stateReplaced
        case .channelForgotten: self = .channelForgotten
        case .channelTaken: self = .channelTaken
        case .sequenceExpired: self = .sequenceExpired
        case .sequenceReused: self = .sequenceReused
        }
    }
}

extension OutboxDoubt: CustomStringConvertible {
    /// The cause as a sentence.
    public var description: String {
        switch self {
        case .stateReplaced: "The service's state was replaced."
        case .channelForgotten: "The service has forgotten the outbox's channel."
        case .channelTaken: "Another program uses the outbox's channel."
        case .sequenceExpired: "The service has forgotten the number of the change."
        case .sequenceReused: "The service knows another change of the same number."
        case .fileIsOld: "The file is older than what the service has had from it."
        case .otherPosts: "The change was made on a post of another state of the service."
        case .serviceFailed: "The service failed while it executed the change."
        case .otherAccount: "The change was made as an account of another state of the service."
        case .unknownUser: "An earlier version made the change, and did not note as whom."
        }
    }
}

/// Ids of posts that wait in the outbox.
public enum LocalPostID {
    /// Ids of services are below 2^56.
    private static let mark: UInt64 = 1 << 62

    /// Whether an id is that of a post in the outbox, which no service knows.
    public static func isLocal(_ id: PostID) -> Bool { id.rawValue & mark != 0 }

    static func id(entry number: UInt64) -> PostID { PostID(rawValue: mark | number) }

    static func entry(_ id: PostID) -> UInt64 { id.rawValue & ~mark }
}
