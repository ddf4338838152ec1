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

    package func type(_ text: String) throws { try terminal.write(contentsOf: Data(text.utf8)) }

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

/// What a terminal shows of a program's output, as far as programs of this project control it.
///
/// It knows the line break, the first column, and of the escape sequences of ECMA-48: the first row (`H`),
/// erasing to the end of the line (`K`) and of the screen (`J`), and which screen is shown.
package struct TerminalScreen: Sendable, Equatable {
    /// The rows, without spaces at their ends.
    package var rows: [String] {
        cells.map { row in String(row.reversed().drop { $0 == " " }.reversed()) }
    }

    /// Whether the program has a screen of its own, which the former one follows.
    package private(set) var isOwn = false
    package private(set) var hasCursor = true

    private var cells: [[Character]] = [[]]
    private var row = 0
    private var column = 0
    private var unread: [UInt8] = []

    package init() {}

    /// Takes bytes of the program, however they were split.
    package mutating func receive(_ bytes: [UInt8]) {
        unread += bytes
        // A character or a sequence may have come in part only.
        while let byte = unread.first {
            if byte == 0x1B {
                let end = unread.dropFirst(2).firstIndex { $0 >= 0x40 }
                guard let end else { return }
                control(String(decoding: unread[2...end], as: UTF8.self))
                unread.removeSubrange(...end)
            } else {
                let count = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
                guard unread.count >= count else { return }
                show(Character(String(decoding: unread[..<count], as: UTF8.self)))
                unread.removeSubrange(..<count)
            }
        }
    }

    private mutating func control(_ sequence: String) {
        switch sequence {
        case "H": (row, column) = (0, 0)
        case "K": cells[row].removeSubrange(min(column, cells[row].count)...)
        case "J":
            cells[row].removeSubrange(min(column, cells[row].count)...)
            cells.removeSubrange((row + 1)...)
        case "?1049h": isOwn = true
        case "?1049l": isOwn = false
        case "?25h": hasCursor = true
        case "?25l": hasCursor = false
        default: break
        }
    }

    private mutating func show(_ character: Character) {
        switch character {
        case "\r": column = 0
        case "\n", "\r\n":
            row += 1
            if row == cells.count { cells.append([]) }
        default:
            while cells[row].count <= column { cells[row].append(" ") }
            cells[row][column] = character
            column += 1
        }
    }
}
