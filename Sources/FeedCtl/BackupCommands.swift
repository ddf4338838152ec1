internal import ArgumentParser
internal import FeedClient
package import FeedProto
internal import FeedText
internal import Foundation

struct BackupCommand: ServiceCommand {
    static let isOfOneService = true

    /// How long a backup may take if the command line does not say, in seconds.
    private static let defaultTimeout = 3600.0
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
            return Sentence.backup(try await client.backup(timeout: timeout))
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

struct BackupsCommand: ServiceCommand {
    static let isOfOneService = true

    static let configuration = CommandConfiguration(
        commandName: "backups",
        abstract: "Shows when the last backup was made, when the next one is due, and what failed."
    )

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        let stats = try await client.stats()
        guard stats.isWhole else { throw BackupFailure.untold }
        return BackupStatsReport(stats.backups)
    }
}

/// Why `backup` and `backups` report none.
package enum BackupFailure: Error, CustomStringConvertible {
    /// The command has waited for its whole timeout. The service's backup counters are nil if the
    /// service reports none.
    case stillRunning(Duration, BackupStats?)
    /// The service tells strangers nothing about its backups.
    case untold

    package var description: String {
        switch self {
        case .stillRunning(let timeout, let stats?) where stats.isRunning:
            "No answer came within \(timeout). The service continues the backup "
                + "(\(BackupProgress(stats).text)): feedctl stats shows it, and --timeout waits longer."
        case .stillRunning(let timeout, let stats?) where !stats.lastError.isEmpty:
            "No answer came within \(timeout). \(stats.lastError)"
        case .stillRunning(let timeout, let stats?) where !stats.lastName.isEmpty:
            "No answer came within \(timeout). No backup is under way; the newest complete one is "
                + "\(stats.lastName)."
        case .stillRunning(let timeout, _):
            "No answer came within \(timeout). The service may continue the backup: feedctl stats "
                + "shows it."
        case .untold:
            "The service tells only callers with a key about its backups (--service-key-file)."
        }
    }
}

extension Sentence {
    package static func backup(_ backup: BackupResponse) -> Sentence {
        Sentence(
            "Backup \(VisibleText.line(backup.name)) holds revision \(backup.revision).",
            ["name": backup.name, "revision": backup.revision]
        )
    }
}

/// The state of the backups, alone and as a part of what `stats` reports; all zeros if there are none.
package struct BackupStatsReport: Report {
    private let stats: BackupStats

    package init(_ stats: BackupStats?) { self.stats = stats ?? BackupStats() }

    package var document: Document {
        [
            "is_running": stats.isRunning, "copied_byte_count": stats.copiedByteCount,
            "byte_count": stats.byteCount, "last_name": stats.lastName,
            "last_time_ms": stats.lastTimeMilliseconds, "last_byte_count": stats.lastByteCount,
            "last_duration_ms": stats.lastDurationMilliseconds, "last_error": stats.lastError,
            "last_error_time_ms": stats.lastErrorTimeMilliseconds,
            "failure_count": stats.failureCount,
            "schedule_interval_ms": stats.scheduleIntervalMilliseconds,
            "next_time_ms": stats.nextTimeMilliseconds,
        ]
    }

    package func text(_ style: TextStyle) -> String {
        var fields = FieldList()
        add(to: &fields, style)
        return fields.rendered()
    }

    func add(to fields: inout FieldList, _ style: TextStyle) {
        let last = "\(stats.lastName), \(style.time(stats.lastTimeMilliseconds))"
        fields.add("last backup", stats.lastName.isEmpty ? "none" : last)
        if stats.isRunning { fields.add("backup under way", BackupProgress(stats).text) }
        if stats.nextTimeMilliseconds != 0 {
            fields.add("next backup", style.time(stats.nextTimeMilliseconds))
        }
        if stats.failureCount > 0 { fields.add("failed backups", "\(stats.failureCount)") }
        if !stats.lastError.isEmpty {
            let time = style.time(stats.lastErrorTimeMilliseconds)
            fields.add("failed backup", "\(time): \(stats.lastError)")
        }
    }
}

package struct BackupProgress {
    private let stats: BackupStats

    package init(_ stats: BackupStats) { self.stats = stats }

    /// `42 % of 1200 MB`, or the step before the copy begins.
    package var text: String {
        guard stats.byteCount > 0 else { return "waiting for changes to be checkpointed" }
        // Numbers of the wire: their products and sums may not fit.
        let share = Double(stats.copiedByteCount) / Double(stats.byteCount)
        let percent = Int(min(1, share) * 100)
        let megabytes = (stats.byteCount - 1) / 1_000_000 + 1
        return "\(percent) % of \(megabytes) MB"
    }
}
