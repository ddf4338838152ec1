/// A task that waits for the end of its call.
///
/// The session ends each call once, which its tests check for thousands of histories. So the
/// continuation is one without a check, which would allocate memory for each call.
@safe struct CallTask: Sendable {
    private let continuation: UnsafeContinuation<SessionDriver.Outcome, Never>

    /// Waits until `body`, or what it gives the task to, has ended the call.
    nonisolated(nonsending) static func wait(
        _ body: (CallTask) -> Void
    ) async -> SessionDriver.Outcome {
        await unsafe withUnsafeContinuation { continuation in
            body(unsafe CallTask(continuation: continuation))
        }
    }

    /// Ends the wait; to be called once.
    func resume(returning outcome: SessionDriver.Outcome) {
        unsafe continuation.resume(returning: outcome)
    }
}
