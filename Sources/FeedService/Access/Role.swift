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
