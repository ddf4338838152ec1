internal import ArgumentParser
internal import FeedClient
package import FeedProto
internal import FeedText

/// A user as a command names it: by the number of the account, or by its e-mail.
struct UserArgument: ExpressibleByArgument {
    /// 0 where the e-mail names it.
    let id: UserID
    let email: String

    init?(argument: String) {
        if argument.contains("@") {
            id = 0
            email = argument
        } else {
            guard let id = UserID(argument), id > 0 else { return nil }
            self.id = id
            email = ""
        }
    }

    var text: String { id == 0 ? email : "account \(id)" }
}

/// A command that changes a user, with the key of a service where there are keys.
protocol UserCommand: ServiceCommand {
    var change: UserChange { get }

    var user: UserArgument { get }
}

extension UserCommand {
    func perform(_ client: FeedClient) async throws -> any Report {
        try await client.changeUser(
            ChangeUserRequest(userID: user.id, email: user.email, change: change)
        )
        return Sentence.userChange(user.text, change)
    }
}

struct EndSessionsCommand: UserCommand {
    static let configuration = CommandConfiguration(
        commandName: "end-sessions",
        abstract: "Signs a user out everywhere."
    )

    var change: UserChange { .endSessions }

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

    var change: UserChange { .suspend }

    @Argument(help: "The number of the account, or its e-mail address.")
    var user: UserArgument

    @OptionGroup var options: ServiceOptions
}

struct RestoreCommand: UserCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Lets a suspended user sign in again."
    )

    var change: UserChange { .restore }

    @Argument(help: "The number of the account, or its e-mail address.")
    var user: UserArgument

    @OptionGroup var options: ServiceOptions
}

struct DeleteUserCommand: UserCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete-user",
        abstract: "Deletes the account of a user and its posts, for good."
    )

    @Argument(help: "The number of the account, or its e-mail address.")
    var user: UserArgument

    @Flag(help: "The posts stay, without an author.")
    var keepPosts = false

    @OptionGroup var options: ServiceOptions

    var change: UserChange { keepPosts ? .deleteKeepingPosts : .delete }
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
            case .delete: "is deleted, and the posts go with it"
            case .deleteKeepingPosts: "is deleted, and the posts stay without an author"
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
