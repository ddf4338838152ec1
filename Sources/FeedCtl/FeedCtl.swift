// The command line of the feed service, for people and for scripts.
//
// Each command (Commands/) makes its calls through FeedClient and returns a report (Reports/); those
// of a person (Person/) keep who the person is in a profile. The report is printed as a plain table
// for people or as JSON for programs. Texts of others are made safe to print (Text/). The exit status
// is 0 for success, 1 where the service refused or cannot be reached, 2 where the command line is wrong,
// and 3 where the report says that what was asked is not done.

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
            LogLevelCommand.self, PingCommand.self, BackupsCommand.self,
        ],
        groupedSubcommands: [
            CommandGroup(
                name: "Personal",
                subcommands: [
                    SignUpCommand.self, LogInCommand.self, LogOutCommand.self, WhoAmICommand.self,
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
            fail(error.description, .usage)
        }
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error as FeedClientError {
            fail(error.description, ExitStatus(error))
        } catch let error as OfflineError {
            fail(error.description, .failed)
        } catch let failure as ImportFailure {
            fail(failure.description, .failed)
        } catch let failure as BackupFailure {
            fail(failure.description, .failed)
        } catch let failure as ProfileError {
            fail(failure.description, .failed)
        } catch let error as ConsoleError {
            fail(error.description, .failed)
        } catch let error as VariableError {
            fail(error.description, .usage)
        } catch is NotDone {
            Foundation.exit(ExitStatus.notDone.rawValue)
        } catch {
            let isHelp = exitCode(for: error) == .success
            let text = fullMessage(for: error) + "\n"
            if isHelp {
                try? Console.write(text)
            } else {
                Console.notify(text)
            }
            Foundation.exit(isHelp ? ExitStatus.success.rawValue : ExitStatus.usage.rawValue)
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

    private static func fail(_ text: String, _ status: ExitStatus) -> Never {
        Console.notify("feedctl: \(VisibleText.line(text))\n")
        Foundation.exit(status.rawValue)
    }
}
