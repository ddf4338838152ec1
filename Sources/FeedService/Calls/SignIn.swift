internal import FeedAccounts
internal import FeedConcurrency

/// A SignUp or SignIn that was let in, until its password is checked.
struct SignIn {
    /// What the caller wants.
    enum Goal {
        /// A new account with this name; an empty one is made of the e-mail.
        case signUp(displayName: String)
        /// A session of an account.
        case signIn
        /// A session of an account, which is created if there is none.
        case signInOrUp

        /// Whether the call creates an account where there is none.
        var mayCreate: Bool {
            switch self {
            case .signUp, .signInOrUp: true
            case .signIn: false
            }
        }
    }

    /// The request that is answered.
    let requestID: UInt64
    /// What the caller wants.
    let goal: Goal
    /// The e-mail of the account.
    let email: EmailAddress
    /// The password, which is overwritten once nothing holds it.
    let password: Secret
    /// The account that the password is compared with; nil where there is none.
    var account: AccountRow?
    /// Who takes turns with others for the hash.
    let peer: ClientIdentity
    /// The attempt, as limits count it.
    let attempt: SignInLimits<ClientIdentity>.Attempt
    /// How long the request may take.
    let timeout: Duration
    /// When that is over.
    let deadline: MonotonicInstant

    /// What the password is hashed for.
    var purpose: PasswordJob.Purpose {
        switch goal {
        case .signUp: .create
        case .signIn: .verify(account?.passwordHash)
        case .signInOrUp: account.map { .verify($0.passwordHash) } ?? .create
        }
    }

    /// The call.
    var method: Method {
        switch goal {
        case .signUp: .signUp
        case .signIn, .signInOrUp: .signIn
        }
    }

    /// The name of a new account: the one that was asked for, or what is before the `@` of the e-mail.
    func displayName(_ rules: TextRules) -> String {
        if case .signUp(let name) = goal, !name.isEmpty { return name }
        return rules.displayName(of: email)
    }
}
