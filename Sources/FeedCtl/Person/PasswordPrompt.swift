internal import ArgumentParser

/// Asks for a password without showing it.
enum PasswordPrompt {
    static let help = """
        The password is asked for and not shown. Where standard input is no terminal, its first line is \
        the password.
        """

    /// How long a call with a password may take: the service works on passwords if nothing else waits.
    static let waitSeconds = 60.0

    /// Reads a password.
    ///
    /// - Parameter isTwice: Whether a terminal is asked twice, for a password that is new.
    /// - Returns: The password.
    /// - Throws: A `ValidationError` where there is none, or two that differ.
    static func read(twice isTwice: Bool) throws -> String {
        guard Terminal.isInput else {
            guard let line = readLine() else {
                throw ValidationError("A password is missing on standard input.")
            }
            return line
        }
        let password = try ask("Password: ")
        if isTwice, try ask("Again: ") != password {
            throw ValidationError("The two passwords differ.")
        }
        return password
    }

    private static func ask(_ prompt: String) throws -> String {
        guard let line = Terminal.secretLine(after: prompt) else {
            throw ValidationError("A password is missing.")
        }
        return line
    }
}
