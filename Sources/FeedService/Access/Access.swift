/// The roles that may make a call.
package enum Access: Sendable {
    case everyone
    /// All but operators: the call reads posts.
    case reading
    /// All but readers and operators: the call changes something.
    case changing
    /// Devices, users and services: the call is about the posts that one viewer has seen.
    case viewers
    /// Users and services: the call is about an account or its posts.
    case users
    case services
    /// Services and operators: the call mends what others have done.
    case servicesAndOperators
    /// Operators only: the call is about the service's own running.
    case operators

    package func admits(_ role: Role) -> Bool {
        switch role {
        case .anonymous:
            switch self {
            case .everyone, .reading, .changing: true
            case .viewers, .users, .services, .servicesAndOperators, .operators: false
            }
        case .device:
            switch self {
            case .everyone, .reading, .changing, .viewers: true
            case .users, .services, .servicesAndOperators, .operators: false
            }
        case .user:
            switch self {
            case .everyone, .reading, .changing, .viewers, .users: true
            case .services, .servicesAndOperators, .operators: false
            }
        case .reader:
            switch self {
            case .everyone, .reading: true
            case .changing, .viewers, .users, .services, .servicesAndOperators, .operators: false
            }
        case .service:
            switch self {
            case .everyone, .reading, .changing, .viewers, .users, .services,
                .servicesAndOperators:
                true
            case .operators: false
            }
        case .operator:
            switch self {
            case .everyone, .servicesAndOperators, .operators: true
            case .reading, .changing, .viewers, .users, .services: false
            }
        case .local: true
        }
    }
}

/// The authorisation table: one row a call.
///
/// There is no default, so a new call does not compile before it has a row. A row admits roles. The
/// call itself may ask for more: that a user is the author of a post, for example.
///
/// The fast path of votes does not read the table: ``Caller/takesFastPath`` is false for callers of the
/// roles that may not vote.
extension Method {
    package var access: Access {
        switch self {
        case .hello, .ping, .cancel: .everyone
        case .signUp, .signIn: .changing
        case .getSession, .signOut: .users
        case .getPost, .batchGetPosts, .listPosts, .getPostRank: .reading
        case .syncPosts, .watchPosts, .listFeeds: .reading
        case .getServerStats: .everyone
        case .createPost, .castVote, .batchCastVotes: .changing
        case .updatePost, .deletePost: .users
        case .markPosts: .viewers
        case .importPosts, .createFeed, .correctTimes: .services
        case .deletePosts: .servicesAndOperators
        case .backup, .drain, .setLogLevel: .operators
        // No caller may learn from a refusal which calls a newer service has.
        case .unknown: .everyone
        }
    }
}

/// The kind of a caller, which decides the calls that it may make.
///
/// A caller has one role. That of a key comes before what the caller has shown otherwise.
package enum Role: String, CaseIterable, Sendable {
    /// A connection that has named nobody.
    case anonymous
    /// A device: Hello named its `client_id`.
    case device
    /// A person with an account: Hello showed the token of a session.
    case user
    /// A program with a key that may read only.
    case reader
    /// A trusted program, which may also act for users.
    case service
    /// A program or a person with a key that keeps the service running.
    case `operator`
    /// A caller from this machine, where there are no service keys: it may do everything.
    case local

    /// The role of a key; nil where its caller is what it would be without one.
    init?(_ role: KeyRole) {
        switch role {
        case .app: return nil
        case .reader: self = .reader
        case .service: self = .service
        case .operator: self = .operator
        }
    }

    /// Whether the role is more than that of a user: a key has it, or a caller from this machine.
    var isTrusted: Bool {
        switch self {
        case .anonymous, .device, .user: false
        case .reader, .service, .operator, .local: true
        }
    }
}

/// What a key makes its caller: the word behind its hash in the file of `--service-keys`.
package enum KeyRole: String, CaseIterable, Sendable, BitwiseCopyable {
    /// What a caller without a key is, who may sign a user in.
    case app
    /// A program that reads posts and changes nothing.
    case reader
    /// A trusted program, which may also act for users.
    case service
    /// A program or a person that keeps the service running.
    case `operator`

    /// The role of a line without a word for it: lines had none before there were roles.
    package static let unnamed = KeyRole.service

    /// All roles, for a message.
    static var list: String { allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ") }
}
