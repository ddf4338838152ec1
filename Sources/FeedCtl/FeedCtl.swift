// The command line of the feed service, for people and for scripts.
//
// A file has the commands of one subject with their reports. A command makes its calls through
// FeedClient (ServiceCommand), or as a person whom a profile knows (PersonCommand), and returns a
// report. The report is printed as a plain text for people or as JSON for programs; texts of others
// are made safe to print.

internal import ArgumentParser
internal import FeedClient
internal import FeedOffline
internal import FeedText
internal import Foundation

/// The program: a command in, a report and an exit status out.
@main
struct FeedCtl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feedctl",
        abstract: "Reads and changes what a feed service holds.",
        version: FeedCtlVersion.current,
        subcommands: [
            ListCommand.self, GetCommand.self, CreateCommand.self, VoteCommand.self,
            DeleteCommand.self, FeedsCommand.self, StatsCommand.self, ImportCommand.self,
            BackupCommand.self, CorrectTimesCommand.self, DeletePostsCommand.self,
            RankCommand.self, MarkCommand.self, CreateFeedCommand.self, DrainCommand.self,
            LogLevelCommand.self, PingCommand.self, BackupsCommand.self, ClusterCommand.self,
            EndSessionsCommand.self, SuspendCommand.self, RestoreCommand.self,
            DeleteUserCommand.self, MakePasswordResetCommand.self,
        ],
        groupedSubcommands: [
            CommandGroup(
                name: "Personal",
                subcommands: [
                    SignUpCommand.self, LogInCommand.self, LogOutCommand.self, WhoAmICommand.self,
                    ChangePasswordCommand.self, ChangeEmailCommand.self, DeleteAccountCommand.self,
                    SessionsCommand.self, EndSessionCommand.self, ResetPasswordCommand.self,
                    FeedCommand.self, WatchCommand.self, PostCommand.self, TweetCommand.self,
                    EditCommand.self, RemoveCommand.self, UpCommand.self, DownCommand.self,
                    ReadCommand.self, DismissCommand.self, DismissAllCommand.self,
                    SyncCommand.self, OutboxCommand.self,
                ]
            )
        ]
    )

    static func main() async {
        Console.holdStandardStreams()
        if let error = UnknownCommand(CommandLine.arguments.dropFirst(), among: commandNames) {
            fail(error, .usage)
        }
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            end(error)
        }
    }

    func run() throws {
        Console.notify("A command is missing.\n\n\(Self.helpMessage())\n")
        Foundation.exit(ExitStatus.usage.rawValue)
    }

    private static var commandNames: [String] {
        let groups = configuration.groupedSubcommands.flatMap { $0.subcommands }
        return (configuration.subcommands + groups).compactMap { $0.configuration.commandName }
    }

    private static func end(_ error: any Error) -> Never {
        switch error {
        case let error as FeedClientError:
            if case .badAddress = error { fail(error, .usage) } else { fail(error, .failed) }
        case let error as OfflineError: fail(error, .failed)
        case let error as ImportFailure: fail(error, .failed)
        case let error as BackupFailure: fail(error, .failed)
        case let error as ClusterFailure: fail(error, .failed)
        case let error as ProfileError: fail(error, .failed)
        case let error as ConsoleError: fail(error, .failed)
        case let error as VariableError: fail(error, .usage)
        case is NotDone: Foundation.exit(ExitStatus.notDone.rawValue)
        default:
            let text = fullMessage(for: error) + "\n"
            guard exitCode(for: error) == .success else {
                Console.notify(text)
                Foundation.exit(ExitStatus.usage.rawValue)
            }
            try? Console.write(text)
            Foundation.exit(ExitStatus.success.rawValue)
        }
    }

    private static func fail(_ error: some CustomStringConvertible, _ status: ExitStatus) -> Never {
        Console.notify("feedctl: \(VisibleText.line(error.description))\n")
        Foundation.exit(status.rawValue)
    }
}

/// The version of this build, for `--version`.
private enum FeedCtlVersion {
    /// The version that the service of the same sources has; scripts/check.sh compares the two.
    static let current = "0.2.0"
}

/// The meaning of the program's exit status.
enum ExitStatus: Int32 {
    case success = 0
    /// The service refused, or could not be reached.
    case failed = 1
    /// The command line is wrong.
    case usage = 2
    /// The service has answered, and nothing of what was asked could be done, or a part was refused.
    case notDone = 3
}

/// What was asked is not done, as the report that was printed says.
struct NotDone: Error {}

/// A first word that is no command.
package struct UnknownCommand: CustomStringConvertible {
    private let word: String
    private let names: [String]

    /// The word behind the program's name, or behind `help`; nil if it is a command or an option.
    package init?(_ words: some Collection<String>, among names: [String]) {
        let isHelp = words.first == "help"
        guard let word = isHelp ? words.dropFirst().first : words.first, !word.hasPrefix("-"),
            !names.contains(word), word != "help"
        else { return nil }
        self.word = word
        self.names = names
    }

    /// What was typed, what was meant, and where all commands are.
    package var description: String {
        let hint = Suggestion.text(for: word, among: names + ["help"])
        return "There is no command \"\(word)\"\(hint) feedctl help lists the commands."
    }
}

/// The name that somebody may have meant.
enum Suggestion {
    /// The most letters to insert and remove; two letters in the wrong order are one of each.
    private static let maximumDistance = 3

    /// The end of a sentence with the name that is nearest to a wrong one, as `; did you mean "list"?`; a
    /// full stop if none is near.
    static func text(
        for wrong: String,
        among names: [String],
        shown: (String) -> String = { $0 }
    ) -> String {
        let distances = names.map { (name: $0, count: $0.difference(from: wrong).count) }
        guard let nearest = distances.min(by: { $0.count < $1.count }),
            nearest.count <= min(maximumDistance, wrong.count - 1)
        else { return "." }
        return "; did you mean \"\(shown(nearest.name))\"?"
    }
}
