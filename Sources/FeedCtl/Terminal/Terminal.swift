import FeedConcurrency
import Glibc

/// The terminals on standard input and standard output, if there are any.
enum Terminal {
    /// How many columns the output has; nil where standard output is no terminal, or has no size.
    static var columnCount: Int? { size.flatMap { $0.ws_col > 0 ? Int($0.ws_col) : nil } }

    /// How many rows the output has; nil where standard output is no terminal, or has no size.
    static var rowCount: Int? { size.flatMap { $0.ws_row > 0 ? Int($0.ws_row) : nil } }

    private static var size: winsize? {
        var size = winsize()
        guard isOutput, unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 else {
            return nil
        }
        return size
    }

    /// Whether a person may type the input.
    static var isInput: Bool { isatty(STDIN_FILENO) == 1 }

    /// Whether a person may read the output.
    static var isOutput: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Runs the body while the terminal on standard input does not show what is typed.
    static func withoutEcho<Value>(_ body: () -> Value) -> Value {
        var settings = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return body() }
        var silent = settings
        silent.c_lflag &= ~tcflag_t(ECHO)
        _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer { _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings) }
        return body()
    }

    /// Runs the body while the terminal on standard input gives each key at once and shows none.
    ///
    /// Ctrl-C is a key too, so that it ends the body and not the process.
    static func withKeys<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        var settings = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return try await body() }
        var direct = settings
        direct.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &direct)
        defer { _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings) }
        return try await body()
    }

    /// The next bytes of standard input; none where the time passes or a signal comes, and nil at the end.
    static func input(within timeout: Duration) -> [UInt8]? {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        let milliseconds = Int32(clamping: timeout.millisecondsRoundedUp)
        guard unsafe poll(&input, 1, milliseconds) > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
        return count > 0 ? Array(bytes.prefix(count)) : nil
    }
}
