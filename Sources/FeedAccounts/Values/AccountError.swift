/// Why an account cannot be created or put back.
package enum AccountError: Error, Equatable, Sendable {
    /// Another account has the e-mail.
    case emailTaken
    /// There are as many accounts as there may be.
    case tooManyAccounts(limit: Int)
    /// A stored account has no good e-mail or number, or those of another account.
    case badAccount(id: UInt64)
    /// A stored session has the hash of another session.
    case badSession(userID: UInt64)
}

extension AccountError: CustomStringConvertible {
    /// What is wrong; it names no e-mail, as the text may be logged.
    package var description: String {
        switch self {
        case .emailTaken: "There is an account with this e-mail."
        case .tooManyAccounts(let limit): "There are \(limit) accounts, which is the limit."
        case .badAccount(let id):
            "The stored account \(id) has no good e-mail or number, or those of another account."
        case .badSession(let id): "A stored session of the account \(id) is there twice."
        }
    }
}
