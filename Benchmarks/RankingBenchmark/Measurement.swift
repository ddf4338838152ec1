import Glibc

/// Clocks and other figures of the running process.
enum Measurement {
    /// How often a measurement is repeated.
    static let roundCount = 5

    /// The processor time of this thread.
    static func processorNanoseconds() -> Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// The middle one of the rounds; each returns its own figure.
    static func median(_ round: () -> Double) -> Double {
        (0..<roundCount).map { _ in round() }.sorted()[roundCount / 2]
    }

    /// The middle one of some figures.
    static func middle(_ figures: [Double]) -> Double { figures.sorted()[figures.count / 2] }

    /// The memory of the process that is there.
    static func residentByteCount() -> Int {
        guard let file = unsafe fopen("/proc/self/statm", "r") else { return 0 }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard unsafe fgets(&line, 128, file) != nil else { return 0 }
        let bytes = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        return (Int(fields[1]) ?? 0) * 4_096
    }

    /// Prints a figure under its name.
    static func show(_ name: String, _ value: Double, _ unit: String = "ns") {
        print("  \(name): \((value * 10).rounded() / 10) \(unit)")
    }
}
