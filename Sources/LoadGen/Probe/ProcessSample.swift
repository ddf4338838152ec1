/// The CPU time of one process at one instant, thread by thread.
package struct ProcessSample: Sendable, Equatable {
    /// One thread's account.
    package struct Task: Sendable, Equatable {
        /// Time on a CPU.
        package var runNanoseconds: UInt64
        /// Time ready to run, waiting for a CPU.
        package var waitNanoseconds: UInt64

        /// An account of a thread.
        package init(runNanoseconds: UInt64, waitNanoseconds: UInt64) {
            self.runNanoseconds = runNanoseconds
            self.waitNanoseconds = waitNanoseconds
        }

        /// Reads `/proc/PID/task/TID/schedstat`: time run, time waited, number of slices.
        package init?(parsing schedstat: String) {
            let fields = schedstat.split(whereSeparator: \.isWhitespace).map { UInt64($0) }
            guard fields.count >= 2, let run = fields[0], let wait = fields[1] else { return nil }
            self.init(runNanoseconds: run, waitNanoseconds: wait)
        }
    }

    /// The threads by id.
    package var tasks: [Int: Task]
    /// Clock ticks in user code and in the kernel, of all threads that ever ran.
    package var userTicks: UInt64
    /// See `userTicks`.
    package var systemTicks: UInt64
    /// Memory that is resident now.
    package var residentByteCount: UInt64
    /// The cores that the process may run on; empty where that cannot be seen.
    package var cores: Set<Int>

    /// A sample put together by hand.
    package init(
        tasks: [Int: Task],
        userTicks: UInt64 = 0,
        systemTicks: UInt64 = 0,
        residentByteCount: UInt64 = 0,
        cores: Set<Int> = []
    ) {
        self.tasks = tasks
        self.userTicks = userTicks
        self.systemTicks = systemTicks
        self.residentByteCount = residentByteCount
        self.cores = cores
    }

    /// A sample of process `id` now (`self` is this one), or nil where it cannot be seen.
    package init?(of id: String) {
        var tasks: [Int: Task] = [:]
        for task in ProcFile.numbers(in: "/proc/\(id)/task") {
            guard let text = ProcFile.text("/proc/\(id)/task/\(task)/schedstat"),
                let account = Task(parsing: text)
            else { continue }
            tasks[task] = account
        }
        guard !tasks.isEmpty, let stat = ProcFile.text("/proc/\(id)/stat") else { return nil }
        let ticks = Self.ticks(stat)
        let status = ProcFile.text("/proc/\(id)/status") ?? ""
        self.init(
            tasks: tasks,
            userTicks: ticks.user,
            systemTicks: ticks.system,
            residentByteCount: Self.resident(status),
            cores: Self.cores(status)
        )
    }

    /// Fields 14 and 15 of `/proc/PID/stat`, counted from behind the name, which may hold spaces.
    package static func ticks(_ stat: String) -> (user: UInt64, system: UInt64) {
        guard let end = stat.lastIndex(of: ")") else { return (0, 0) }
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        guard fields.count > 12 else { return (0, 0) }
        return (UInt64(fields[11]) ?? 0, UInt64(fields[12]) ?? 0)
    }

    /// `VmRSS` of `/proc/PID/status`, which is in KiB.
    package static func resident(_ status: String) -> UInt64 {
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        let number = line?.split(whereSeparator: \.isWhitespace).dropFirst().first
        return number.flatMap { UInt64($0) }.map { $0 * 1024 } ?? 0
    }

    /// `Cpus_allowed_list` of `/proc/PID/status`, as `0-3,8`.
    package static func cores(_ status: String) -> Set<Int> {
        let line = status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") }
        guard let list = line?.split(whereSeparator: \.isWhitespace).last else { return [] }
        var cores: Set<Int> = []
        for part in list.split(separator: ",") {
            let ends = part.split(separator: "-").compactMap { Int($0) }
            guard let first = ends.first, let last = ends.last, first <= last else { continue }
            cores.formUnion(first...last)
        }
        return cores
    }
}
