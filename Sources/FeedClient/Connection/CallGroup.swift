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
