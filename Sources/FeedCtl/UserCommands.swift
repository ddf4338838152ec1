internal import ArgumentParser
internal import FeedClient
package import FeedProto
internal import FeedText

/// A user as a command names it: by the number of the account, or by its e-mail.
struct UserArgument: ExpressibleByArgument {
    /// 0 where the e-mail names it.
    let id: UInt64
    let email: String

    init?(argument: String) {
        if argument.contains("@") {
            id = 0
            email = argument
        } else {
            guard let number = UInt64(argument), number > 0 else { return nil }
            id = number
            email = ""
        }
    }

    var text: String { id == 0 ? email : "account \(id)" }
}

/// A command that changes a user, with the key of a service where there are keys.
protocol UserCommand: ServiceCommand {
    static var change: UserChange { get }

    var user: UserArgument { get }
}

extension UserCommand {
    func perform(_ client: FeedClient) async throws -> any Report {
        try await client.changeUser(
            ChangeUserRequest(userID: user.id, email: user.email, change: Self.change)
        )
        return Sentence.userChange(user.text, Self.change)
    }
}

struct EndSessionsCommand: UserCommand {
    static let configuration = CommandConfiguration(
        commandName: "end-sessions",
        abstract: "Signs a user out everywhere."
    )

    static let change = UserChange.endSessions

    @Argument(help: "The number of the account, or its e-mail address.")
    var user: UserArgument

    @OptionGroup var options: ServiceOptions
}

struct SuspendCommand: UserCommand {
    static let configuration = CommandConfiguration(
        commandName: "suspend",
        abstract: "Signs a user out everywhere, and lets nobody sign in as the user.",
        discussion: "Posts, votes and marks stay; feedctl delete-posts --author deletes the posts."
    )

    static let change = UserChange.suspend

    @Argument(help: "The number of the account, or its e-mail address.")
    var user: UserArgument

    @OptionGroup var options: ServiceOptions
}

struct RestoreCommand: UserCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Lets a suspended user sign in again."
    )

    static let change = UserChange.restore

    @Argument(help: "The number of the account, or its e-mail address.")
    var user: UserArgument

    @OptionGroup var options: ServiceOptions
}

struct MakePasswordResetCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "make-password-reset",
        abstract: "Makes a token with which a user sets another password, for an hour.",
        discussion: """
            Who has the token has the account: send it to the user's own address. feedctl \
            reset-password takes it. An earlier token of the user ends.
            """
    )

    @Argument(help: "The number of the account, or its e-mail address.")
    var user: UserArgument

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        Sentence.passwordReset(
            try await client.makePasswordReset(
                MakePasswordResetRequest(userID: user.id, email: user.email)
            )
        )
    }
}

extension Sentence {
    package static func userChange(_ user: String, _ change: UserChange) -> Sentence {
        let end =
            switch change {
            case .endSessions: "is signed out everywhere"
            case .suspend: "is suspended"
            default: "may sign in"
            }
        return Sentence(
            "\(VisibleText.line(user)) \(end).",
            ["user": user, "change": change.argument]
        )
    }

    /// The token alone, so that a program can send it on.
    package static func passwordReset(_ reset: PasswordReset) -> Sentence {
        let token = reset.token.hexadecimal
        return Sentence(
            token,
            [
                "token": token, "user_id": reset.user?.id ?? 0,
                "expire_time_ms": reset.expireTimeMilliseconds,
            ]
        )
    }
}
