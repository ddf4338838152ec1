internal import ArgumentParser
internal import FeedOffline

/// Sends the outbox and brings the copy of the posts up to date.
struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Sends the changes that wait, and brings the copy for feed --offline up to date.",
        discussion: """
            Each change is counted exactly once. Where the service cannot tell whether it has one, the \
            change stays in the outbox, in doubt; feedctl outbox shows it.
            """
    )

    @OptionGroup var options: PersonOptions

    func run() async throws {
        let feed = try await options.openOffline(connects: true)
        do {
            let report = SyncedReport(try await feed.sync())
            await feed.close()
            try report.print(asJSON: options.json)
        } catch {
            await feed.close()
            let address = try options.target.settings().address
            throw (error as? OfflineError)?.naming(target: address) ?? error
        }
    }
}
