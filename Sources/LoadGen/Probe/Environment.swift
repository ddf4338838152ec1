import FeedConcurrency
import Foundation

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
