internal import FeedAdmin
internal import FoundationEssentials
internal import Glibc

/// What the system says of the process, under the names that Prometheus' own libraries use.
struct ProcessUsage {
    /// Seconds of processor time.
    private(set) var cpuSeconds = 0.0
    /// Bytes in memory.
    private(set) var residentByteCount = 0.0
    /// When the process began, in seconds since 1970.
    private(set) var startTimeSeconds = 0.0

    /// Reads the files of `/proc`; what cannot be read is 0.
    init() {
        let ticks = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
        // Behind the program's name, which is in parentheses and may have spaces.
        let stat = Self.text("/proc/self/stat")
        let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
        guard fields.count > 22 else { return }
        func number(_ field: Int) -> Double { Double(fields[field - 2]) ?? 0 }
        cpuSeconds = (number(14) + number(15)) / ticks
        residentByteCount = number(24) * Double(sysconf(Int32(_SC_PAGESIZE)))
        let boot = Self.text("/proc/stat").split(separator: "\n").first { $0.hasPrefix("btime ") }
        let bootSeconds = boot.flatMap { Double($0.dropFirst("btime ".count)) } ?? 0
        startTimeSeconds = bootSeconds + number(22) / ticks
    }

    /// The metrics of the process.
    func families() -> [MetricFamily] {
        [
            MetricFamily(
                "process_cpu_seconds",
                .counter,
                unit: "seconds",
                help: "Processor time of the process.",
                samples: [.total(cpuSeconds)]
            ),
            .gauge(
                "process_resident_memory_bytes",
                unit: "bytes",
                "Memory of the process.",
                Int(residentByteCount)
            ),
            .gauge("process_open_fds", "Open files of the process.", Self.openFileCount),
            .gauge("process_max_fds", "Files that the process may open.", Self.openFileLimit),
            .seconds(
                "process_start_time_seconds",
                "When the process began, since 1970.",
                startTimeSeconds
            ),
        ]
    }

    private static var openFileCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }

    private static var openFileLimit: Int {
        let line = text("/proc/self/limits").split(separator: "\n").first {
            $0.hasPrefix("Max open files")
        }
        let words = line?.split(separator: " ") ?? []
        return words.count > 3 ? Int(words[3]) ?? 0 : 0
    }

    private static func text(_ path: String) -> String {
        guard let bytes = FileManager.default.contents(atPath: path) else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}
