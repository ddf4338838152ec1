internal import ArgumentParser
internal import FeedOffline

/// Shows the changes that wait, and decides about those that failed or are in doubt.
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "Shows the changes that feedctl sync has to send, or could not.",
        discussion: """
            A change is sent as the account that had signed in when it was made, and as no other; without \
            one it is the device's. --resend makes it one of the account that has signed in now. A change that \
            failed had no effect. One in doubt may have been executed: sent again, it may count twice.
            """
    )

    @Option(help: ArgumentHelp("Forget this entry.", valueName: "entry"))
    var drop: [UInt64] = []

    @Option(
        help: ArgumentHelp(
            "Let the next sync send this entry, which failed, is in doubt or is another account's.",
            valueName: "entry"
        )
    )
    var resend: [UInt64] = []

    @OptionGroup var options: PersonOptions

    func run() async throws {
        let feed = try await options.openOffline()
        do {
            for entry in drop { try await feed.drop(entry) }
            for entry in resend { try await feed.resend(entry) }
            let report = OutboxReport(try await feed.outbox(), for: await feed.userID)
            await feed.close()
            try report.print(asJSON: options.json)
        } catch {
            await feed.close()
            throw error
        }
    }
}
