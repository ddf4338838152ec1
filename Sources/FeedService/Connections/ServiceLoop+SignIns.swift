internal import FeedAccounts
internal import FeedConcurrency
internal import FeedTransport

/// Passwords take longer than a loop iteration. They are hashed on threads of their own, and their
/// calls are answered when that is done, after answers to later requests.
extension ServiceLoop {
    /// A sign-in that waits for its hash.
    struct WaitingSignIn {
        let connection: ServerConnection
        let signIn: SignIn
        let arrival: MonotonicInstant
    }

    /// Has the passwords of a connection hashed that it has sent in this loop iteration.
    func startSignIns(for connection: ServerConnection) {
        guard !handler.signIns.isEmpty else { return }
        let signIns = handler.signIns
        handler.signIns = []
        var hasRefused = false
        for signIn in signIns {
            if start(signIn, for: connection, arrival: eventLoop.now) {
                connection.awaitAnswer()
            } else {
                connection.refuse(signIn)
                hasRefused = true
            }
        }
        if hasRefused { handler.answers.send(to: connection.recipient, through: outbox) }
    }

    /// Queues the password; false where the queue is full.
    private func start(
        _ signIn: SignIn,
        for connection: ServerConnection,
        arrival: MonotonicInstant
    ) -> Bool {
        nextSignIn += 1
        let number = nextSignIn
        let mailbox = eventLoop.mailbox
        let job = PasswordJob(
            // Hashes are seeded anew in each process, so no host can choose that of another one.
            host: signIn.peer.hashValue,
            password: signIn.password,
            purpose: signIn.purpose,
            interest: connection.interest,
            deadline: signIn.deadline
        ) { outcome in
            mailbox.post { ServiceLoop.of($0).finishSignIn(number, outcome) }
        }
        guard context.passwords.offer(job) else { return false }
        waitingSignIns[number] = WaitingSignIn(
            connection: connection,
            signIn: signIn,
            arrival: arrival
        )
        return true
    }

    private func finishSignIn(_ number: UInt64, _ outcome: PasswordJob.Outcome) {
        guard let waiting = waitingSignIns.removeValue(forKey: number) else { return }
        let connection = waiting.connection
        guard connection.recipient.isOpen else {
            handler.dropSignIn(waiting.signIn, outcome)
            return
        }
        if let rest = connection.finish(waiting.signIn, outcome, arrival: waiting.arrival) {
            if start(rest, for: connection, arrival: waiting.arrival) { return }
            connection.refuse(rest)
        }
        handler.answers.send(to: connection.recipient, through: outbox)
        connection.awaitedAnswerCame()
    }
}
