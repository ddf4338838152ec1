internal import ArgumentParser
internal import FeedClient
internal import FeedProto
internal import Foundation

/// Makes a backup of the state.
struct BackupCommand: ServiceCommand {
    /// How long a backup may take where the command line does not say, in seconds.
    private static let defaultTimeout = 3600.0
    /// How often the progress is asked for.
    private static let progressInterval = Duration.milliseconds(500)

    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Backs up the service's state, in its data directory.",
        discussion: """
            Waits until the backup is complete, an hour at most unless --timeout says otherwise, and \
            shows its progress on a terminal. The service makes one backup at a time, and continues \
            it when this command ends.
            """
    )

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        let timeout = options.timeout.duration(default: Self.defaultTimeout)
        let progress = Task { await showProgress(client) }
        defer {
            progress.cancel()
            if showsProgress { Console.notify("\r\u{1B}[K") }
        }
        do throws(FeedClientError) {
            return BackupReport(try await client.backup(timeout: timeout))
        } catch {
            guard case .deadlinePassed = error else { throw error }
            throw BackupFailure.stillRunning(timeout, try? await client.stats().backups)
        }
    }

    private var showsProgress: Bool { isatty(STDERR_FILENO) == 1 }

    /// Shows the progress on one line of a terminal, rewritten at intervals.
    private func showProgress(_ client: FeedClient) async {
        guard showsProgress else { return }
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.progressInterval)
            guard let backups = try? await client.stats().backups, !Task.isCancelled else { return }
            Console.notify("\r\u{1B}[K\(BackupProgress(backups).text)")
        }
    }
}
