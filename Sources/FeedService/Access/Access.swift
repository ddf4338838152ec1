/// The roles that may make a call.
package enum Access: Sendable {
    case everyone
    /// All but operators: the call reads posts.
    case reading
    /// All but readers and operators: the call changes something.
    case changing
    /// Devices, users and services: the call is about the posts that one viewer has seen or made.
    case viewers
    /// Users and services: the call is about an account.
    case users
    case services
    /// Services and operators: the call mends what others have done.
    case servicesAndOperators
    /// Operators only: the call is about the service's own running.
    case operators

    package func admits(_ role: Role) -> Bool {
        if role == .local { return true }
        return switch self {
        case .everyone: true
        case .reading: role != .operator
        case .changing: role != .reader && role != .operator
        case .viewers: role == .device || role == .user || role == .service
        case .users: role == .user || role == .service
        case .services: role == .service
        case .servicesAndOperators: role == .service || role == .operator
        case .operators: role == .operator
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

    static var list: String { allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ") }
}
