package import Foundation
internal import Synchronization

/// A child process of a test at a terminal of its own, whose screen can be waited for.
package final class TerminalProcess: Sendable {
    private struct State {
        var screen = TerminalScreen()
        var isOutputComplete = false
        var waiters: [Waiter] = []
    }

    private struct Waiter {
        var matches: @Sendable (TerminalScreen) -> Bool
        var continuation: CheckedContinuation<TerminalScreen?, Never>
    }

    /// The process id, for signals.
    package let id: Int32
    private let terminal: FileHandle
    private let state = Mutex(State())
    private let exit: AsyncStream<Int32>

    /// Starts a program at a terminal of a size.
    package init(
        _ executable: URL,
        _ arguments: [String],
        rowCount: Int = 24,
        columnCount: Int = 80
    ) throws {
        let (child, descriptor) = try spawnOnTerminal(
            executable,
            arguments,
            rowCount: rowCount,
            columnCount: columnCount
        )
        id = child
        terminal = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let (exit, exited) = AsyncStream<Int32>.makeStream()
        self.exit = exit
        let thread = Thread { [self] in
            while let bytes = readSome(descriptor) { received(bytes) }
            received([])
            exited.yield(waitForExit(child))
            exited.finish()
        }
        thread.start()
    }

    /// What the terminal shows.
    package var screen: TerminalScreen { state.withLock { $0.screen } }

    /// The first screen from now on that matches, waiting for it; nil if the output ends without one.
    ///
    /// A test that takes too long ends the process, and so its wait.
    package func screen(
        where matches: @escaping @Sendable (TerminalScreen) -> Bool
    ) async -> TerminalScreen? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    state.waiters.append(Waiter(matches: matches, continuation: continuation))
                    Self.serveWaiters(&state)
                }
            }
        } onCancel: {
            signal(SIGKILL)
        }
    }

    /// Whether the terminal gives the program whole lines and shows what is typed, as it was at the start.
    package var takesLines: Bool {
        var settings = termios()
        guard unsafe tcgetattr(terminal.fileDescriptor, &settings) == 0 else { return false }
        let flags = tcflag_t(ECHO | ICANON | ISIG)
        return settings.c_lflag & flags == flags
    }

    /// Types at the terminal.
    package func type(_ text: String) throws { try terminal.write(contentsOf: Data(text.utf8)) }

    /// Sends a signal to the process.
    package func signal(_ number: Int32) { kill(id, number) }

    /// The exit status, waiting for the end; negative for the signal that ended it.
    ///
    /// It is told once.
    package func exitStatus() async -> Int32? {
        await withTaskCancellationHandler {
            await exit.first { _ in true }
        } onCancel: {
            signal(SIGKILL)
        }
    }

    /// Takes more output; none is its end.
    private func received(_ bytes: [UInt8]) {
        state.withLock { state in
            state.isOutputComplete = bytes.isEmpty
            state.screen.receive(bytes)
            Self.serveWaiters(&state)
        }
    }

    private static func serveWaiters(_ state: inout State) {
        var waiting: [Waiter] = []
        for waiter in state.waiters {
            if waiter.matches(state.screen) {
                waiter.continuation.resume(returning: state.screen)
            } else if state.isOutputComplete {
                waiter.continuation.resume(returning: nil)
            } else {
                waiting.append(waiter)
            }
        }
        state.waiters = waiting
    }
}
