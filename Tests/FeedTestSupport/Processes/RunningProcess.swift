package import Foundation
internal import Synchronization

/// A child process of a test whose output is collected line by line and can be waited for.
///
/// A thread of its own reads the output and then collects the exit status, so that neither can be
/// missed; the pipe is closed in every other child, so that its end is the end of this one.
package final class RunningProcess: Sendable {
    private struct State {
        var lines: [String] = []
        var partial: [UInt8] = []
        var isOutputComplete = false
        var exitStatus: Int32?
        var lineWaiters: [LineWaiter] = []
        var exitWaiters: [CheckedContinuation<Int32, Never>] = []
    }

    private struct LineWaiter {
        var matches: @Sendable (String) -> Bool
        var nextLine: Int
        var continuation: CheckedContinuation<String?, Never>
    }

    /// The process id, for signals and for reading its accounts.
    package let id: Int32
    private let state = Mutex(State())

    /// Starts a program; standard output and standard error are collected together.
    package init(
        _ executable: URL,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) throws {
        let (child, output) = try spawn(executable, arguments, environment)
        id = child
        let thread = Thread { [self] in
            while let bytes = readSome(output) { received(bytes) }
            close(output)
            received([])
            ended(waitForExit(child))
        }
        thread.start()
    }

    /// What the process has printed, line by line.
    package var output: [String] { state.withLock { $0.lines } }

    /// The first line that matches, waiting for it; nil if the output ends without one.
    package func line(where matches: @escaping @Sendable (String) -> Bool) async -> String? {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.lineWaiters.append(
                    LineWaiter(matches: matches, nextLine: 0, continuation: continuation)
                )
                Self.serveLineWaiters(&state)
            }
        }
    }

    /// Whether the process prints a line with the text, waiting for it.
    ///
    /// An answer may be here before the line that the service has logged for it.
    package func prints(_ text: String) async -> Bool { await line { $0.contains(text) } != nil }

    package func signal(_ number: Int32) { kill(id, number) }

    /// The exit status, waiting for the end; negative for the signal that ended it.
    package func exitStatus() async -> Int32 {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                if let status = state.exitStatus {
                    continuation.resume(returning: status)
                } else {
                    state.exitWaiters.append(continuation)
                }
            }
        }
    }

    /// The exit status and all of the output, waiting for the end of both.
    package func finish() async -> (status: Int32, output: [String]) {
        (await exitStatus(), output)
    }

    private func ended(_ status: Int32) {
        state.withLock { state in
            state.exitStatus = status
            for waiter in state.exitWaiters { waiter.resume(returning: status) }
            state.exitWaiters = []
        }
    }

    /// Takes more output; none is its end.
    private func received(_ bytes: [UInt8]) {
        state.withLock { state in
            state.isOutputComplete = bytes.isEmpty
            state.partial += bytes
            while let end = state.partial.firstIndex(of: 0x0a) {
                state.lines.append(String(decoding: state.partial[..<end], as: UTF8.self))
                state.partial.removeSubrange(...end)
            }
            if state.isOutputComplete, !state.partial.isEmpty {
                state.lines.append(String(decoding: state.partial, as: UTF8.self))
            }
            Self.serveLineWaiters(&state)
        }
    }

    private static func serveLineWaiters(_ state: inout State) {
        var waiting: [LineWaiter] = []
        for var waiter in state.lineWaiters {
            if let line = state.lines[waiter.nextLine...].first(where: waiter.matches) {
                waiter.continuation.resume(returning: line)
            } else if state.isOutputComplete {
                waiter.continuation.resume(returning: nil)
            } else {
                waiter.nextLine = state.lines.count
                waiting.append(waiter)
            }
        }
        state.lineWaiters = waiting
    }
}

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
