/// What a process used between two samples.
package struct ProcessUsage: Sendable, Equatable {
    /// CPU time of all threads.
    package var seconds: Double
    /// The part of `seconds` in user code, by the kernel's ticks.
    package var userShare: Double
    /// The share of the interval that the busiest thread was on a CPU.
    package var busiestThreadShare: Double
    /// The share of the interval that the busiest thread waited for a CPU.
    package var waitShare: Double
    /// Resident memory at the end.
    package var residentByteCount: UInt64
    /// The cores that the process might run on at the end; empty where that could not be seen.
    package var cores: Set<Int>

    /// The difference of two samples `intervalSeconds` apart.
    ///
    /// A thread that is in one sample only started or ended between them. What it used before it
    /// ended is not known.
    package init(from start: ProcessSample, to end: ProcessSample, intervalSeconds: Double) {
        var total: UInt64 = 0
        var busiest = ProcessSample.Task(runNanoseconds: 0, waitNanoseconds: 0)
        for (id, task) in end.tasks {
            let before = start.tasks[id] ?? .init(runNanoseconds: 0, waitNanoseconds: 0)
            let run = task.runNanoseconds &- min(before.runNanoseconds, task.runNanoseconds)
            let wait = task.waitNanoseconds &- min(before.waitNanoseconds, task.waitNanoseconds)
            total += run
            if run > busiest.runNanoseconds {
                busiest = .init(runNanoseconds: run, waitNanoseconds: wait)
            }
        }
        seconds = Double(total) / 1e9
        let user = Double(end.userTicks &- min(start.userTicks, end.userTicks))
        let system = Double(end.systemTicks &- min(start.systemTicks, end.systemTicks))
        userShare = user + system > 0 ? user / (user + system) : 0
        let interval = max(intervalSeconds, 1e-9) * 1e9
        busiestThreadShare = Double(busiest.runNanoseconds) / interval
        waitShare = Double(busiest.waitNanoseconds) / interval
        residentByteCount = end.residentByteCount
        cores = end.cores
    }
}
