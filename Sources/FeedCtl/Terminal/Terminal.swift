import Glibc

/// The terminals on standard input and standard output, if there are any.
enum Terminal {
    /// How many columns the output has; nil where standard output is no terminal, or has no size.
    static var columnCount: Int? {
        var size = winsize()
        guard isOutput, unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0
        else { return nil }
        return Int(size.ws_col)
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
}
