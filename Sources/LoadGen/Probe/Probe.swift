import FeedConcurrency
import FeedTransport
import Foundation

/// Watches the CPU time of the service, of the generator and of the machine.
package struct Probe {
    /// The values seen at one instant; nil where a value could not be seen.
    package struct Sample {
        var instant: MonotonicInstant
        var server: ProcessSample?
        var generator: ProcessSample?
        var machine: MachineSample?

        fileprivate func seconds(since start: Sample) -> Double {
            instant.duration(since: start.instant) / .seconds(1)
        }
    }

    private(set) var serverPID: Int?
    private var start: Sample?
    private var end: Sample?

    /// A probe that looks at process `serverPID`, or finds it.
    init(serverPID: Int?) {
        self.serverPID = serverPID
    }

    /// Looks for the service among the processes of this machine, unless it was named.
    mutating func findServer(_ address: SocketAddress) {
        guard serverPID == nil, address.isLoopback else { return }
        serverPID = ServerProcess.find(port: address.port)
    }

    mutating func startMeasuring() {
        start = sample()
    }

    /// The measured time ends; later calls change nothing.
    mutating func stopMeasuring() {
        if start != nil && end == nil { end = sample() }
    }

    func sample() -> Sample {
        Sample(
            instant: MonotonicInstant.now,
            server: serverPID.flatMap { ProcessSample(of: "\($0)") },
            generator: ProcessSample(of: "self"),
            machine: MachineSample()
        )
    }

    /// What was used between two samples, as far as it could be seen.
    typealias Usage = (server: ProcessUsage?, generator: ProcessUsage?, machine: MachineUsage?)

    static func usage(from start: Sample, to end: Sample) -> Usage {
        let seconds = end.seconds(since: start)
        func difference(_ one: ProcessSample?, _ other: ProcessSample?) -> ProcessUsage? {
            guard let one, let other else { return nil }
            return ProcessUsage(from: one, to: other, intervalSeconds: seconds)
        }
        var machine: MachineUsage?
        if let first = start.machine, let last = end.machine {
            machine = MachineUsage(from: first, to: last)
        }
        return (
            difference(start.server, end.server), difference(start.generator, end.generator),
            machine
        )
    }

    /// What was used while measuring.
    var measured: Usage {
        guard let start, let end else { return (nil, nil, nil) }
        return Self.usage(from: start, to: end)
    }
}

/// The cores that were used in one interval, on the mean; nil where a value could not be seen.
package struct IntervalUsage: Sendable, Equatable {
    package var server: Double?
    package var generator: Double?
    /// Those of all programs of the machine.
    package var busy: Double?
    /// Those that the host gave to other machines.
    package var steal: Double?

    package init() {}

    /// What was used between two samples of a machine with `coreCount` cores.
    init(from start: Probe.Sample, to end: Probe.Sample, coreCount: Int) {
        let usage = Probe.usage(from: start, to: end)
        let seconds = max(end.seconds(since: start), 1e-9)
        server = usage.server.map { $0.seconds / seconds }
        generator = usage.generator.map { $0.seconds / seconds }
        busy = usage.machine.map { $0.busyShare * Double(coreCount) }
        steal = usage.machine.map { $0.stealShare * Double(coreCount) }
    }

    /// Becomes the mean of an interval of so many seconds and of another one behind it.
    mutating func add(_ other: IntervalUsage, seconds: Double, otherSeconds: Double) {
        func mean(_ one: Double?, _ two: Double?) -> Double? {
            guard one != nil || two != nil else { return nil }
            return ((one ?? 0) * seconds + (two ?? 0) * otherSeconds)
                / max(seconds + otherSeconds, 1e-9)
        }
        server = mean(server, other.server)
        generator = mean(generator, other.generator)
        busy = mean(busy, other.busy)
        steal = mean(steal, other.steal)
    }
}

extension IntervalUsage: JSONReadable {
    package static var unread: IntervalUsage { IntervalUsage() }

    package static let members: [Member<IntervalUsage>] = [
        .optional("server", \.server, .plain),
        .optional("generator", \.generator, .plain),
        .optional("busy", \.busy, .plain),
        .optional("steal", \.steal, .plain),
    ]
}

/// The CPU time of the whole machine at one instant, in clock ticks over all cores.
package struct MachineSample: Sendable, Equatable {
    /// Ticks in which a core ran something of this machine.
    package var busyTicks: UInt64
    /// Ticks that the host gave to other machines.
    package var stealTicks: UInt64
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

    package init(busyShare: Double, stealShare: Double) {
        self.busyShare = busyShare
        self.stealShare = stealShare
    }

    package init(from start: MachineSample, to end: MachineSample) {
        let total = Double(max(1, end.totalTicks &- min(start.totalTicks, end.totalTicks)))
        busyShare = Double(end.busyTicks &- min(start.busyTicks, end.busyTicks)) / total
        stealShare = Double(end.stealTicks &- min(start.stealTicks, end.stealTicks)) / total
    }
}

/// Where a run took place, for later readers of its result.
package struct Environment: Sendable, Equatable {
    package var processor: String
    /// Cores that programs may use.
    package var coreCount: Int
    package var kernel: String
    package var command: String
    /// When the run started, in UTC.
    package var startTime: String

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

extension Environment: JSONReadable {
    package static var unread: Environment { Environment() }

    package static let members: [Member<Environment>] = [
        .required("processor", \.processor, .plain),
        .required("cores", \.coreCount, .within(0...65_536)),
        .required("kernel", \.kernel, .plain),
        .required("command", \.command, .plain),
        .required("start_time", \.startTime, .plain),
        .written("debug_build") { _ in isDebugBuild },
    ]
}

/// The CPU time of one process at one instant, thread by thread.
package struct ProcessSample: Sendable, Equatable {
    package struct Task: Sendable, Equatable {
        package var runNanoseconds: UInt64
        /// Time ready to run, waiting for a CPU.
        package var waitNanoseconds: UInt64

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

    package var tasks: [Int: Task]
    /// Clock ticks in user code and in the kernel, of all threads that ever ran.
    package var userTicks: UInt64
    package var systemTicks: UInt64
    package var residentByteCount: UInt64
    /// The cores that the process may run on; empty where that cannot be seen.
    package var cores: Set<Int>

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

package struct ProcessUsage: Sendable, Equatable {
    package var seconds = 0.0
    /// The part of `seconds` in user code, by the kernel's ticks.
    package var userShare = 0.0
    /// The share of the interval that the busiest thread was on a CPU.
    package var busiestThreadShare = 0.0
    /// The share of the interval that the busiest thread waited for a CPU.
    package var waitShare = 0.0
    package var residentByteCount: UInt64 = 0
    /// The cores that the process might run on at the end; empty where that could not be seen.
    package var cores: Set<Int> = []

    private init() {}

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

extension ProcessUsage: JSONReadable {
    package static var unread: ProcessUsage { ProcessUsage() }

    package static let members: [Member<ProcessUsage>] = [
        .usual("seconds", \.seconds, .plain),
        .usual("user_share", \.userShare, .plain),
        .usual("busiest_thread_share", \.busiestThreadShare, .plain),
        .usual("wait_share", \.waitShare, .plain),
        .required("resident_bytes", \.residentByteCount, .count),
        .usual("cores", \.cores, Form(write: { $0.sorted() }, read: { cores, _ in Set(cores) })),
    ]
}

/// Reads kernel files in /proc; a file that is gone or not readable is nil, never an error.
enum ProcFile {
    /// The text of the file.
    ///
    /// The file is read to its end: the kernel reports a size of 0 for these files, and a reader
    /// that trusts it gets the first page of a table.
    static func text(_ path: String) -> String? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        guard let bytes = try? file.readToEnd() else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The names in the folder that are numbers: processes, tasks or descriptors.
    static func numbers(in path: String) -> [Int] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: path)
        return (names ?? []).compactMap { Int($0) }
    }

    static func link(_ path: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: path)
    }
}

package enum ServerProcess {
    /// The id of a process that listens on `port`, or nil where there is none that we may inspect.
    package static func find(port: UInt16) -> Int? {
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"].compactMap(ProcFile.text)
        let inodes = Set(tables.flatMap { listeningInodes($0, port: port) })
        guard !inodes.isEmpty else { return nil }
        let links = Set(inodes.map { "socket:[\($0)]" })
        for process in ProcFile.numbers(in: "/proc") {
            let folder = "/proc/\(process)/fd"
            for descriptor in ProcFile.numbers(in: folder) {
                if let link = ProcFile.link("\(folder)/\(descriptor)"), links.contains(link) {
                    return process
                }
            }
        }
        return nil
    }

    /// The sockets that listen on `port` in the text of `/proc/net/tcp`: the second column is the
    /// local address with the port in hexadecimal, the fourth the state (0A listens), the tenth the
    /// inode.
    package static func listeningInodes(_ table: String, port: UInt16) -> [UInt64] {
        table.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            guard fields.count > 9, fields[3] == "0A",
                let colon = fields[1].lastIndex(of: ":"),
                UInt16(fields[1][fields[1].index(after: colon)...], radix: 16) == port
            else { return nil }
            return UInt64(fields[9])
        }
    }
}
