/// The kind of a caller, which decides the calls that it may make.
///
/// A caller has one role: the last of these that it has shown.
package enum Role: String, CaseIterable, Sendable {
    /// A connection that has named nobody.
    case anonymous
    /// A device: Hello named its `client_id`.
    case device
    /// A person with an account: Hello showed the token of a session.
    case user
    /// A trusted program, which may also act for users.
    case service
}
