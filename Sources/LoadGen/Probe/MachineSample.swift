import FeedConcurrency
import Foundation

/// The CPU time of the whole machine at one instant, in clock ticks over all cores.
package struct MachineSample: Sendable, Equatable {
    /// Ticks in which a core ran something of this machine.
    package var busyTicks: UInt64
    /// Ticks that the host gave to other machines.
    package var stealTicks: UInt64
    /// All ticks.
    package var totalTicks: UInt64

    /// Reads the first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal.
    package init?(parsing stat: String) {
        guard let line = stat.split(separator: "\n").first, line.hasPrefix("cpu ") else {
            return nil
        }
        let fields = line.split(separator: " ").dropFirst().prefix(8).map { UInt64($0) ?? 0 }
        guard fields.count == 8 else { return nil }
        totalTicks = fields.reduce(0, +)
        stealTicks = fields[7]
        busyTicks = totalTicks - fields[3] - fields[4] - fields[7]
    }

    /// The machine now, or nil where /proc cannot be read.
    package init?() {
        guard let text = ProcFile.text("/proc/stat") else { return nil }
        self.init(parsing: text)
    }
}

/// What the machine did between two samples, as shares of all cores.
package struct MachineUsage: Sendable, Equatable {
    /// Time some process of this machine ran.
    package var busyShare: Double
    /// Time the host gave to other machines.
    package var stealShare: Double

    /// These shares, as an earlier run saw them.
    package init(busyShare: Double, stealShare: Double) {
        self.busyShare = busyShare
        self.stealShare = stealShare
    }

    /// The difference of two samples.
    package init(from start: MachineSample, to end: MachineSample) {
        let total = Double(max(1, end.totalTicks &- min(start.totalTicks, end.totalTicks)))
        busyShare = Double(end.busyTicks &- min(start.busyTicks, end.busyTicks)) / total
        stealShare = Double(end.stealTicks &- min(start.stealTicks, end.stealTicks)) / total
    }
}

/// Where a run took place, for later readers of its result.
package struct Environment: Sendable, Equatable {
    /// The processor's own name.
    package var processor: String
    /// Cores that programs may use.
    package var coreCount: Int
    /// The kernel's version.
    package var kernel: String
    /// The whole command line.
    package var command: String
    /// When the run started, in UTC.
    package var startTime: String

    /// This machine, now.
    package init() {
        let information = ProcFile.text("/proc/cpuinfo") ?? ""
        let model = information.split(separator: "\n").first { $0.hasPrefix("model name") }
        processor =
            model?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces) ?? "unknown"
        coreCount = ProcessInfo.processInfo.activeProcessorCount
        let release = ProcFile.text("/proc/sys/kernel/osrelease") ?? "unknown"
        kernel = release.trimmingCharacters(in: .whitespacesAndNewlines)
        command = CommandLine.arguments.joined(separator: " ")
        let seconds = Double(SystemClock.unixMilliseconds()) / 1_000
        startTime = Date(timeIntervalSince1970: seconds).formatted(.iso8601)
    }

    /// Whether the program was built without optimisation, which makes every figure meaningless.
    package static var isDebugBuild: Bool {
        var isDebug = false
        // The argument of an assertion is evaluated in debug builds only.
        assert(
            {
                isDebug = true
                return true
            }()
        )
        return isDebug
    }
}
