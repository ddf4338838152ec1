internal import ArgumentParser
internal import FeedClient
internal import FeedOffline

/// Whether a change may wait in the outbox.
struct QueueOptions: ParsableArguments {
    @Flag(help: "Keep the change for feedctl sync where no service can be reached.")
    var queue = false
}

/// A command whose change can wait in the outbox of the profile.
protocol QueueableCommand: PersonCommand {
    /// Whether it may.
    var queueing: QueueOptions { get }

    /// Puts the change into the outbox.
    func add(to feed: OfflineFeed) async throws(OfflineError) -> OutboxEntry
}

extension QueueableCommand {
    /// Makes the call, or keeps the change where `--queue` says so and no service can be reached.
    func run() async throws {
        do {
            try await answer().print(asJSON: options.json)
        } catch let error as FeedClientError {
            guard error.isUnreachable else { throw error }
            guard queueing.queue else { throw error.namingQueue }
            try await queue()
        }
    }

    private func queue() async throws {
        let feed = try await options.openOffline()
        do {
            let entry = try await add(to: feed)
            await feed.close()
            try QueuedReport(entry).print(asJSON: options.json)
        } catch {
            await feed.close()
            throw error
        }
    }
}
