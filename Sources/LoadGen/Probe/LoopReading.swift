import FeedConcurrency

/// What a thread and the machine had done up to an instant.
package struct LoopReading: Sendable, Equatable {
    /// On the clock that `MonotonicInstant` reads.
    package var instantNanoseconds: UInt64
    /// What the thread had done.
    package var account: ProcessSample.Task
    /// What all cores had done.
    package var machine: MachineSample

    /// A reading put together by hand.
    package init(instantNanoseconds: UInt64, account: ProcessSample.Task, machine: MachineSample) {
        self.instantNanoseconds = instantNanoseconds
        self.account = account
        self.machine = machine
    }

    /// The reading of the calling thread now, or nil where the kernel does not count it.
    package static var ofThisThread: LoopReading? {
        guard let account = ProcessSample.Task.ofThisThread, let machine = MachineSample() else {
            return nil
        }
        return LoopReading(
            instantNanoseconds: MonotonicInstant.now.nanoseconds,
            account: account,
            machine: machine
        )
    }

    /// The share of the time until `end` that the thread slept; nil where `end` is not later.
    ///
    /// The kernel counts how long a thread ran or waited for a core. It slept for the rest. Running
    /// time may leave out what the host took, so the average of all cores is subtracted for that. What
    /// the host took while the thread waited counts twice, so that the share may be too low.
    package func idleShare(until end: LoopReading) -> Double? {
        guard end.instantNanoseconds > instantNanoseconds else { return nil }
        let elapsed = Double(end.instantNanoseconds - instantNanoseconds)
        let before = min(account.awakeNanoseconds, end.account.awakeNanoseconds)
        let awake = Double(end.account.awakeNanoseconds - before)
        let stolen = MachineUsage(from: machine, to: end.machine).stealShare
        // Accounts are as of the kernel's last tick, so that a short run may seem to have been awake
        // for longer than it took.
        return max(0, 1 - awake / elapsed - stolen)
    }
}
