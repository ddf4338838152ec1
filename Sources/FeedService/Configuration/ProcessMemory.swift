internal import FoundationEssentials

/// The memory that the process may use: that of the machine, or less where its control groups say so.
package struct ProcessMemory {
    /// The bytes; 0 where the system does not say.
    package let byteCount: Int

    /// Reads the files of the system below `root`.
    package init(root: String = "") {
        func text(_ path: String) -> String {
            let bytes = FileManager.default.contents(atPath: root + path) ?? Data()
            return String(decoding: bytes, as: UTF8.self)
        }
        let total = text("/proc/meminfo").split(separator: "\n").first { $0.hasPrefix("MemTotal:") }
        let kibibytes = total.flatMap { Int($0.split(separator: " ").dropFirst().first ?? "") } ?? 0
        var limits = kibibytes > 0 ? [kibibytes << 10] : []
        // Version 2, which has one line; each group above the process's own bounds it, too.
        let line = text("/proc/self/cgroup").split(separator: "\n").first { $0.hasPrefix("0::/") }
        var group = line.map { $0.dropFirst("0::".count) } ?? "/"
        while true {
            let limit = text("/sys/fs/cgroup\(group)/memory.max").split(separator: "\n").first
            if let limit, let count = Int(limit) { limits.append(count) }
            guard group != "/", let slash = group.lastIndex(of: "/") else { break }
            group = slash == group.startIndex ? "/" : group[..<slash]
        }
        byteCount = limits.min() ?? 0
    }
}
