package import Foundation

internal import Synchronization

/// A child process of a test whose output is collected line by line and can be waited for.
package final class RunningProcess: Sendable {
    private struct State {
        var lines: [String] = []
        var partial = Data()
        var isOutputComplete = false
        var waiters: [Waiter] = []
    }

    private struct Waiter {
        var matches: @Sendable (String) -> Bool
        var nextLine: Int
        var continuation: CheckedContinuation<String?, Never>
    }

    private let process: Process
    private let state = Mutex(State())
    private let ending: Task<Int32, Never>

    /// Starts a program; standard output and standard error are collected together.
    package init(
        _ executable: URL,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) throws {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment
            .merging(environment) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        let (ended, end) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { process in
            let status = process.terminationStatus
            end.yield(process.terminationReason == .exit ? status : -status)
            end.finish()
        }
        self.process = process
        ending = Task {
            for await status in ended { return status }
            return -1
        }
        try process.run()
        pipe.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil }
            self?.received(data)
        }
    }

    /// The process id, for signals and for reading its accounts.
    package var id: Int32 { process.processIdentifier }

    /// What the process has printed, line by line.
    package var output: [String] { state.withLock { $0.lines } }

    /// The first line that matches, waiting for it; nil if the output ends without one.
    package func line(where matches: @escaping @Sendable (String) -> Bool) async -> String? {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.waiters.append(
                    Waiter(matches: matches, nextLine: 0, continuation: continuation)
                )
                Self.serveWaiters(&state)
            }
        }
    }

    /// Sends a signal to the process.
    package func signal(_ number: Int32) { kill(id, number) }

    /// The exit status, waiting for the end; negative for the signal that ended it.
    package func exitStatus() async -> Int32 { await ending.value }

    /// The exit status and all of the output, waiting for the end of both.
    package func finish() async -> (status: Int32, output: [String]) {
        let status = await ending.value
        _ = await line { _ in false }
        return (status, output)
    }

    private func received(_ data: Data) {
        state.withLock { state in
            if data.isEmpty {
                state.isOutputComplete = true
            }
            state.partial.append(data)
            while let end = state.partial.firstIndex(of: 0x0a) {
                let line = state.partial[state.partial.startIndex..<end]
                state.lines.append(String(decoding: line, as: UTF8.self))
                state.partial.removeSubrange(state.partial.startIndex...end)
            }
            if state.isOutputComplete, !state.partial.isEmpty {
                state.lines.append(String(decoding: state.partial, as: UTF8.self))
                state.partial.removeAll()
            }
            Self.serveWaiters(&state)
        }
    }

    private static func serveWaiters(_ state: inout State) {
        var waiting: [Waiter] = []
        for var waiter in state.waiters {
            if let line = state.lines[waiter.nextLine...].first(where: waiter.matches) {
                waiter.continuation.resume(returning: line)
            } else if state.isOutputComplete {
                waiter.continuation.resume(returning: nil)
            } else {
                waiter.nextLine = state.lines.count
                waiting.append(waiter)
            }
        }
        state.waiters = waiting
    }
}
