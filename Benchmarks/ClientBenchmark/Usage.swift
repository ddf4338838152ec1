import Glibc
import Synchronization

/// What the process has used so far.
enum Usage {
    /// The processor time of all threads.
    static func processorSeconds() -> Double { Double(clock()) / Double(CLOCKS_PER_SEC) }

    /// The most memory that was there at a time.
    static func peakByteCount() -> Int {
        var usage = rusage()
        unsafe getrusage(RUSAGE_SELF.rawValue, &usage)
        return usage.ru_maxrss * 1_024
    }
}

/// What tasks have done, on a cache line of its own.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0)

    var value: Int { count.load(ordering: .relaxed) }

    func increment() { count.wrappingAdd(1, ordering: .relaxed) }
}

extension String {
    /// The text behind as many spaces as make it so wide.
    func rightAligned(_ width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
