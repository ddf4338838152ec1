internal import ArgumentParser
internal import FeedClient
package import FeedProto
internal import FeedText

struct SignUpCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signup",
        abstract: "Makes an account, and signs in; later commands are those of the account.",
        discussion: PasswordPrompt.help
    )

    @Argument(help: "The e-mail address.")
    var email: String

    @Option(help: "The name that others see; without it, the part of the address before the @.")
    var name = ""

    @OptionGroup var options: PersonOptions

    func run() async throws {
        let name = name.isEmpty ? String(email.prefix { $0 != "@" }) : name
        let session = try await options.beginSession { client in
            let password = try PasswordPrompt.read(twice: true)
            return try await client.signUp(
                email: email,
                password: password,
                displayName: name,
                timeout: options.passwordTimeout
            )
        }
        try SessionReport(session).print(asJSON: options.json)
    }
}

struct LogInCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Signs in; later commands are those of the account.",
        discussion: PasswordPrompt.help
    )

    @Argument(help: "The e-mail address.")
    var email: String

    @OptionGroup var options: PersonOptions

    func run() async throws {
        let session = try await options.beginSession { client in
            let password = try PasswordPrompt.read(twice: false)
            let timeout = options.passwordTimeout
            return try await client.signIn(email: email, password: password, timeout: timeout)
        }
        try SessionReport(session).print(asJSON: options.json)
    }
}

extension PersonOptions {
    /// How long a call with a password may take: the service works on passwords if nothing else waits.
    fileprivate var passwordTimeout: Duration { timeout.duration(default: 60) }
}

struct LogOutCommand: PersonCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Signs out; later commands are those of the device."
    )

    @Flag(help: "End all sessions of the account, on other devices too.")
    var everywhere = false

    @OptionGroup var options: PersonOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        try await client.signOut(everywhere: everywhere)
        return SessionReport()
    }
}

struct WhoAmICommand: PersonCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami",
        abstract: "Shows the account that has signed in."
    )

    @OptionGroup var options: PersonOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        SessionReport(try await client.session())
    }
}

/// Who has signed in; without a session nobody, whose members are zeros.
package struct SessionReport: Report {
    private let user: User
    /// When the session ends unless it is used.
    private let expireTimeMilliseconds: Int64

    package init(_ session: UserSession? = nil) {
        user = session?.user ?? User(displayName: "")
        expireTimeMilliseconds = session?.expireTimeMilliseconds ?? 0
    }

    package var document: Document {
        [
            "user_id": user.id, "display_name": user.displayName,
            "expire_time_ms": expireTimeMilliseconds,
        ]
    }

    /// The token is never shown.
    package func text(_ style: TextStyle) -> String {
        guard user.id != 0 else { return "Nobody has signed in.\n" }
        return "Signed in as \(VisibleText.line(user.displayName)), account \(user.id).\n"
    }
}

/// Asks for a password without showing it.
private enum PasswordPrompt {
    static let help = """
        The password is asked for and not shown. Where standard input is no terminal, its first line is \
        the password.
        """

    /// Reads a password.
    ///
    /// - Parameter isTwice: Whether a terminal is asked twice, for a password that is new.
    /// - Returns: The password.
    /// - Throws: A `ValidationError` if there is none, or if two differ.
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
