internal import Foundation

extension RunningProcess {
    /// Waits until the process has made so many more calls that read or write, or has ended: a moment of its
    /// work, however fast the machine is.
    ///
    /// A process that rests makes no calls: `isOver` ends the wait.
    package func awaitCalls(_ count: Int, orUntil isOver: () -> Bool = { false }) {
        let isCounting = FileManager.default.isReadableFile(atPath: "/proc/self/io")
        precondition(isCounting, "The kernel counts the calls of a process.")
        guard let start = callCount else { return }
        while let now = callCount, now - start < count, !isOver() { sched_yield() }
    }

    /// The calls that read or write so far; nil once the process has ended.
    private var callCount: Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/io", encoding: .utf8) else {
            return nil
        }
        return text.split(separator: "\n").filter { $0.hasPrefix("sysc") }
            .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
            .reduce(0, +)
    }
}
