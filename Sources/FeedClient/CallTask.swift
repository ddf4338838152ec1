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

/// Calls that one task waits for together, bound to the client's loop.
///
/// One task for many calls costs a fraction of a task for each call.
final class CallGroup {
    private let task: CheckedContinuation<[SessionDriver.Outcome], Never>
    private var outcomes: [SessionDriver.Outcome?]
    private var openCount: Int

    /// A group of `count` calls, at least one; `task` is resumed when all have ended.
    init(of count: Int, for task: CheckedContinuation<[SessionDriver.Outcome], Never>) {
        self.task = task
        outcomes = Array(repeating: nil, count: count)
        openCount = count
    }

    /// Records the result of a call, which ends once.
    func complete(_ place: Int, _ outcome: SessionDriver.Outcome) {
        precondition(outcomes[place] == nil, "A call of a group ended twice.")
        outcomes[place] = outcome
        openCount -= 1
        if openCount == 0 { task.resume(returning: outcomes.compactMap(\.self)) }
    }
}

@available(*, unavailable)
extension CallGroup: Sendable {}
