internal import ArgumentParser
internal import FeedClient
internal import FeedProto

/// Makes an account and signs in.
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
                timeout: options.timeout.duration(default: PasswordPrompt.waitSeconds)
            )
        }
        try SessionReport(session).print(asJSON: options.json)
    }
}

/// Signs in.
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
            return try await client.signIn(
                email: email,
                password: password,
                timeout: options.timeout.duration(default: PasswordPrompt.waitSeconds)
            )
        }
        try SessionReport(session).print(asJSON: options.json)
    }
}

/// Signs out.
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

/// Shows who has signed in.
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
