internal import FeedConcurrency
internal import Glibc

/// The terminals on standard input and standard output, if there are any.
enum Terminal {
    /// How many columns the output has; nil if standard output is no terminal, or has no size.
    static var columnCount: Int? { size.flatMap { $0.ws_col > 0 ? Int($0.ws_col) : nil } }

    /// How many rows the output has; nil if standard output is no terminal, or has no size.
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

    /// The settings to bring back while others stand.
    private static let settingsBefore = Lock<termios?>(nil)

    /// Asks for a line and does not show what is typed; nil at the end of the input.
    ///
    /// A signal ends the process once the terminal shows again what is typed.
    static func secretLine(after prompt: String) -> String? {
        var settings = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return readLine() }
        var silent = settings
        silent.c_lflag &= ~tcflag_t(ECHO)
        EndSignals.hold()
        _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        Console.notify(prompt)
        var line: [UInt8] = []
        while line.last != UInt8(ascii: "\n") {
            if let number = EndSignals.take() {
                _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
                EndSignals.end(by: number)
            }
            guard let bytes = input(within: .milliseconds(100)) else { break }
            line += bytes
        }
        _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        Console.notify("\n")
        EndSignals.release()
        guard line.last == UInt8(ascii: "\n") else { return nil }
        return String(decoding: line.dropLast(), as: UTF8.self)
    }

    /// Runs the body while the terminal on standard input gives each key at once and shows none.
    ///
    /// Ctrl-C is a key too, so that it ends the body and not the process.
    static func withKeys<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        var settings = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return try await body() }
        var direct = settings
        direct.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        settingsBefore.withLock { $0 = settings }
        _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &direct)
        defer { _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings) }
        return try await body()
    }

    /// Ends the process at once, with the settings from before: its output is not read.
    static func abandon() -> Never {
        if var settings = settingsBefore.withLock({ $0 }) {
            _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        }
        _exit(ExitStatus.failed.rawValue)
    }

    /// Whether standard error takes some bytes within a time.
    static func canNotify(within timeout: Duration) -> Bool {
        var output = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        let milliseconds = Int32(clamping: timeout.millisecondsRoundedUp)
        return unsafe poll(&output, 1, milliseconds) > 0
    }

    /// The next bytes of standard input; none if the time passes or a signal comes, and nil at the end.
    static func input(within timeout: Duration) -> [UInt8]? {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        let milliseconds = Int32(clamping: timeout.millisecondsRoundedUp)
        guard unsafe poll(&input, 1, milliseconds) > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
        return count > 0 ? Array(bytes.prefix(count)) : nil
    }
}
