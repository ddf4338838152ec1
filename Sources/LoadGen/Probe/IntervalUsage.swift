import FeedConcurrency

/// What the processes and the machine used in one interval; nil where a value could not be seen.
package struct IntervalUsage: Sendable, Equatable {
    /// How long the interval was.
    package var seconds = 0.0
    /// CPU-seconds of the service.
    package var serverSeconds: Double?
    /// CPU-seconds of this process.
    package var generatorSeconds: Double?
    /// CPU-seconds of all programs of the machine.
    package var busySeconds: Double?
    /// CPU-seconds that the host gave to other machines.
    package var stealSeconds: Double?

    /// Nothing seen.
    package init() {}

    /// What was used between two samples of a machine with `coreCount` cores.
    init(from start: Probe.Sample, to end: Probe.Sample, coreCount: Int) {
        let usage = Probe.usage(from: start, to: end)
        seconds = Double(end.instant.duration(since: start.instant).nanoseconds) / 1e9
        serverSeconds = usage.server?.seconds
        generatorSeconds = usage.generator?.seconds
        let whole = seconds * Double(coreCount)
        busySeconds = usage.machine.map { $0.busyShare * whole }
        stealSeconds = usage.machine.map { $0.stealShare * whole }
    }

    /// Adds the interval after this one.
    package mutating func add(_ other: IntervalUsage) {
        func sum(_ one: Double?, _ two: Double?) -> Double? {
            guard let one, let two else { return one ?? two }
            return one + two
        }
        seconds += other.seconds
        serverSeconds = sum(serverSeconds, other.serverSeconds)
        generatorSeconds = sum(generatorSeconds, other.generatorSeconds)
        busySeconds = sum(busySeconds, other.busySeconds)
        stealSeconds = sum(stealSeconds, other.stealSeconds)
    }
}
