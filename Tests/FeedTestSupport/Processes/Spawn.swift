internal import Foundation
internal import Synchronization

/// A program that could not be started.
struct SpawnFailure: Error {
    var program: String
    var number: Int32
}

/// Starts a program with both outputs in one pipe; returns its id and the pipe's reading end.
///
/// No signal is blocked in the child, whatever thread starts it.
func spawn(
    _ executable: URL,
    _ arguments: [String],
    _ environment: [String: String]
) throws -> (child: pid_t, output: Int32) {
    try spawning.withLock { _ in try spawnAlone(executable, arguments, environment) }
}

/// Held from making a pipe until it is closed in children to come.
private let spawning = Mutex(())

private func spawnAlone(
    _ executable: URL,
    _ arguments: [String],
    _ environment: [String: String]
) throws -> (child: pid_t, output: Int32) {
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else {
        throw SpawnFailure(program: executable.path(), number: errno)
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[1]) }
    do {
        let child = unsafe try start(executable, arguments, environment) { actions in
            unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
            unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
        }
        return (child, ends[0])
    } catch {
        close(ends[0])
        throw error
    }
}

/// Starts a program whose standard streams are a terminal of its own; returns its id and our end of the
/// terminal.
///
/// It is the leader of a session, so that the terminal's keys and size reach it as signals.
func spawnOnTerminal(
    _ executable: URL,
    _ arguments: [String],
    rowCount: Int,
    columnCount: Int
) throws -> (child: pid_t, terminal: Int32) {
    let terminal = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var size = winsize()
    size.ws_row = UInt16(rowCount)
    size.ws_col = UInt16(columnCount)
    var (lock, number): (Int32, Int32) = (0, 0)
    guard terminal >= 0, unsafe ioctl(terminal, TerminalRequest.setLock, &lock) == 0,
        unsafe ioctl(terminal, TerminalRequest.getNumber, &number) == 0,
        unsafe ioctl(terminal, UInt(TIOCSWINSZ), &size) == 0
    else { throw SpawnFailure(program: executable.path(), number: errno) }
    let name = "/dev/pts/\(number)"
    do {
        let child = unsafe try start(executable, arguments, [:], isLeader: true) { actions in
            unsafe posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
            unsafe posix_spawn_file_actions_adddup2(&actions, 0, 1)
            unsafe posix_spawn_file_actions_adddup2(&actions, 0, 2)
        }
        return (child, terminal)
    } catch {
        close(terminal)
        throw error
    }
}

/// Requests of Linux to a pseudo-terminal, whose macros Swift does not import.
private enum TerminalRequest {
    /// TIOCSPTLCK.
    static let setLock: UInt = 0x4004_5431
    /// TIOCGPTN.
    static let getNumber: UInt = 0x8004_5430
}

/// Starts a program after the actions that make its standard streams; returns its id.
private func start(
    _ executable: URL,
    _ arguments: [String],
    _ environment: [String: String],
    isLeader: Bool = false,
    _ addActions: (inout posix_spawn_file_actions_t) -> Void
) throws -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe addActions(&actions)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var noSignals = sigset_t()
    unsafe sigemptyset(&noSignals)
    unsafe posix_spawnattr_setsigmask(&attributes, &noSignals)
    // POSIX_SPAWN_SETSID, which Swift does not import.
    let setsID: Int32 = 0x80
    let flags = POSIX_SPAWN_SETSIGMASK | (isLeader ? setsID : 0)
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))

    let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    var argumentPointers =
        unsafe ([executable.path()] + arguments).map { unsafe strdup($0) } + [nil]
    var variablePointers = unsafe variables.map { unsafe strdup("\($0)=\($1)") } + [nil]
    defer {
        for index in unsafe argumentPointers.indices { unsafe free(argumentPointers[index]) }
        for index in unsafe variablePointers.indices { unsafe free(variablePointers[index]) }
    }
    var child: pid_t = 0
    let number = unsafe posix_spawn(
        &child,
        executable.path(),
        &actions,
        &attributes,
        &argumentPointers,
        &variablePointers
    )
    guard number == 0 else { throw SpawnFailure(program: executable.path(), number: number) }
    return child
}

/// What there is to read, waiting for the first byte; nil at the end.
func readSome(_ descriptor: Int32) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 1 << 14)
    let count = unsafe read(descriptor, &buffer, buffer.count)
    return count > 0 ? Array(buffer[..<count]) : nil
}

/// The exit status of a child, waiting for it; negative for the signal that ended it.
func waitForExit(_ child: pid_t) -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0 { guard errno == EINTR else { return -1 } }
    let signal = status & 0x7f
    return signal == 0 ? (status >> 8) & 0xff : -signal
}
