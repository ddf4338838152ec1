import Glibc

/// The terminal on standard output, if there is one.
enum Terminal {
    /// How many columns it has; nil where standard output is no terminal, or has no size.
    static var columnCount: Int? {
        var size = winsize()
        guard isatty(STDOUT_FILENO) == 1,
            unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0
        else { return nil }
        return Int(size.ws_col)
    }
}
