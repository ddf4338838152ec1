internal import FeedAccounts
internal import FeedConcurrency
internal import FeedProto
internal import FeedRanking

/// The answers to SignUp and SignIn, which come when the password was hashed.
extension RequestHandler {
    /// Checks a SignUp or a SignIn; nil for all other calls.
    func beginSignIn(
        _ frame: borrowing ClientFrame,
        from caller: borrowing Caller
    ) throws(Status) -> SignIn? {
        switch frame.request {
        case .signUp(let request):
            let timeout = environment.context.timeout(milliseconds: frame.timeoutMilliseconds)
            return try accounts.signUp(request, id: frame.id, timeout: timeout, from: caller)
        case .signIn(let request):
            let timeout = environment.context.timeout(milliseconds: frame.timeoutMilliseconds)
            return try accounts.signIn(request, id: frame.id, timeout: timeout, from: caller)
        default: return nil
        }
    }

    /// Ends a call and encodes its answer; the caller becomes the user.
    ///
    /// - Parameters:
    ///   - signIn: The call.
    ///   - outcome: The result of the hash.
    ///   - caller: The caller.
    ///   - arrival: When the call arrived.
    /// - Returns: The call, where another hash is needed before its end.
    mutating func finishSignIn(
        _ signIn: SignIn,
        _ outcome: PasswordJob.Outcome,
        for caller: inout Caller,
        arrival: MonotonicInstant
    ) -> SignIn? {
        answers.calls.begin(at: arrival)
        do throws(Status) {
            switch try accounts.finish(signIn, outcome) {
            case .verify(let rest): return rest
            case .session(let session, let login):
                caller.login = login
                answers.append(session, id: signIn.requestID)
            }
        } catch {
            answers.refuse(signIn.requestID, signIn.method, error)
            environment.log.refused(signIn.method, error.reason.rawValue, from: caller.host)
        }
        answers.calls.add(signIn.method, 1, firstID: signIn.requestID)
        return nil
    }

    /// Refuses a call whose password does not fit into the queue; it is no failure.
    mutating func refuseSignIn(_ signIn: SignIn, for caller: Caller) {
        let passwords = environment.context.passwords
        environment.context.signInLimits.withdraw(signIn.attempt)
        let status = Status.tooManySignIns(limit: passwords.queueLimit, wait: passwords.retryTime)
        answers.refuse(signIn.requestID, signIn.method, status)
        environment.log.refused(signIn.method, status.reason.rawValue, from: caller.host)
        answers.calls.add(signIn.method, 1, firstID: signIn.requestID)
    }

    /// Ends a call whose connection has closed: nothing is created.
    func dropSignIn(_ signIn: SignIn, _ outcome: PasswordJob.Outcome) {
        if case .differs = outcome { return }
        environment.context.signInLimits.withdraw(signIn.attempt)
    }
}
