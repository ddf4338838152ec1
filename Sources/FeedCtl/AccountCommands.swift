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
        try Sentence.session(session).print(asJSON: options.json)
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
        try Sentence.session(session).print(asJSON: options.json)
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
        return Sentence.signedOut(everywhere: everywhere)
    }
}

struct WhoAmICommand: PersonCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami",
        abstract: "Shows the account that has signed in."
    )

    @OptionGroup var options: PersonOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        Sentence.session(try await client.session())
    }
}

struct ChangePasswordCommand: PersonCommand {
    static let configuration = CommandConfiguration(
        commandName: "change-password",
        abstract: "Changes the password of the account, and signs out on all other devices.",
        discussion: """
            The password and the new one are asked for and not shown. Where standard input is no \
            terminal, its first two lines are they.
            """
    )

    static let hasPassword = true

    @OptionGroup var options: PersonOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        let password = try PasswordPrompt.read(twice: false)
        let new = try PasswordPrompt.read(twice: true, "New password: ")
        let timeout = options.passwordTimeout
        return Sentence.session(
            try await client.changePassword(password, to: new, timeout: timeout)
        )
    }
}

struct ChangeEmailCommand: PersonCommand {
    static let configuration = CommandConfiguration(
        commandName: "change-email",
        abstract: "Gives the account another e-mail address.",
        discussion: PasswordPrompt.help
    )

    static let hasPassword = true

    @Argument(help: "The e-mail address from now on.")
    var email: String

    @OptionGroup var options: PersonOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        let password = try PasswordPrompt.read(twice: false)
        let timeout = options.passwordTimeout
        try await client.changeEmail(to: email, password: password, timeout: timeout)
        return Sentence.emailChanged(to: email)
    }
}

struct DeleteAccountCommand: PersonCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete-account",
        abstract: "Deletes the account and its posts, for good.",
        discussion: PasswordPrompt.help
    )

    static let hasPassword = true

    @Flag(help: "The posts stay, without an author.")
    var keepPosts = false

    @OptionGroup var options: PersonOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        try await client.deleteAccount(
            password: PasswordPrompt.read(twice: false),
            keepsPosts: keepPosts,
            timeout: options.passwordTimeout
        )
        return Sentence.accountDeleted(keepsPosts: keepPosts)
    }
}

struct SessionsCommand: PersonCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions",
        abstract: "Lists where the account is signed in."
    )

    @OptionGroup var options: PersonOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        SessionsReport(try await client.sessions())
    }
}

struct EndSessionCommand: PersonCommand {
    static let configuration = CommandConfiguration(
        commandName: "end-session",
        abstract: "Signs out on one device."
    )

    @Argument(help: "The session, as feedctl sessions names it.")
    var id: SessionID

    @OptionGroup var options: PersonOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        try await client.endSession(id)
        return Sentence.endOfSession(id)
    }
}

struct ResetPasswordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset-password",
        abstract: "Sets the password of the account that a token is for, and signs in.",
        discussion: """
            The token, of feedctl make-password-reset, and the new password are asked for and not shown. \
            Where standard input is no terminal, its first two lines are they.
            """
    )

    @OptionGroup var options: PersonOptions

    func run() async throws {
        let session = try await options.beginSession { client in
            let line = try PasswordPrompt.read(twice: false, "Token: ")
            guard let token = Secret(hexadecimal: line)?.bytes else {
                throw ValidationError("The token has 64 hexadecimal digits.")
            }
            let password = try PasswordPrompt.read(twice: true, "New password: ")
            let timeout = options.passwordTimeout
            return try await client.resetPassword(token: token, to: password, timeout: timeout)
        }
        try Sentence.session(session).print(asJSON: options.json)
    }
}

package struct SessionsReport: Report {
    private let sessions: [SessionInfo]

    package init(_ sessions: [SessionInfo]) { self.sessions = sessions }

    package var document: Document { ["sessions": sessions.map(Self.member)] }

    private static func member(_ session: SessionInfo) -> Document {
        [
            "id": hexadecimal(session.id.rawValue), "use_time_ms": session.useTimeMilliseconds,
            "expire_time_ms": session.expireTimeMilliseconds, "is_current": session.isCurrent,
        ]
    }

    package func text(_ style: TextStyle) -> String {
        let columns: [TextColumn<SessionInfo>] = [
            .text("SESSION") { hexadecimal($0.id.rawValue) },
            .text("USED") { style.time($0.useTimeMilliseconds) },
            .text("ENDS") {
                RelativeTime.text($0.expireTimeMilliseconds, now: style.nowMilliseconds)
            },
            .text("") { $0.isCurrent ? "this one" : "" },
        ]
        return TextTable(sessions, columns).rendered(style)
    }
}

extension Sentence {
    package static func emailChanged(to email: String) -> Sentence {
        Sentence("The e-mail is \(VisibleText.line(email)) now.", ["email": email])
    }

    package static func accountDeleted(keepsPosts: Bool) -> Sentence {
        let posts = keepsPosts ? "its posts stay without an author" : "its posts go with it"
        return Sentence("The account is deleted; \(posts).", ["keep_posts": keepsPosts])
    }

    package static func endOfSession(_ id: SessionID) -> Sentence {
        let id = hexadecimal(id.rawValue)
        return Sentence("Session \(id) has ended.", ["id": id])
    }
}

extension Sentence {
    /// Who has signed in, without the token.
    package static func session(_ session: UserSession) -> Sentence {
        let user = session.user ?? User(displayName: "")
        let name = VisibleText.line(user.displayName)
        return Sentence(
            user.id == 0 ? "Nobody has signed in." : "Signed in as \(name), account \(user.id).",
            [
                "user_id": user.id, "display_name": user.displayName,
                // When the session ends unless it is used.
                "expire_time_ms": session.expireTimeMilliseconds,
            ]
        )
    }

    /// The end of a session, or of all of the account's; the members are those of a session of nobody.
    package static func signedOut(everywhere: Bool) -> Sentence {
        Sentence(
            everywhere ? "Signed out on all devices." : "Signed out.",
            ["user_id": 0, "display_name": "", "expire_time_ms": 0]
        )
    }
}

/// Asks for a password without showing it.
private enum PasswordPrompt {
    static let help = """
        The password is asked for and not shown. Where standard input is no terminal, its first line is \
        the password.
        """

    /// Reads a password; a terminal is asked twice for one that is new.
    static func read(twice isTwice: Bool, _ prompt: String = "Password: ") throws -> String {
        guard Terminal.isInput else {
            guard let line = readLine() else {
                throw ValidationError("A password is missing on standard input.")
            }
            return line
        }
        let password = try ask(prompt)
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
