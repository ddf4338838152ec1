import Foundation

/// The terminal that the person types at.
enum Terminal {
    /// Reads a password, which a terminal does not show; the next line where there is no terminal.
    static func readPassword() -> String {
        print("Password: ", terminator: "")
        fflush(nil)
        setEcho(false)
        defer {
            setEcho(true)
            print()
        }
        return readLine() ?? ""
    }

    private static func setEcho(_ isOn: Bool) {
        var settings = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return }
        let echo = tcflag_t(ECHO)
        settings.c_lflag = isOn ? settings.c_lflag | echo : settings.c_lflag & ~echo
        _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
    }
}
