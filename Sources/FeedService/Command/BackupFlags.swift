internal import ArgumentParser
internal import FeedJournal
internal import FeedState

/// The flags of backups on a schedule, and of the journal that is kept to go on from one.
struct BackupFlags: ParsableArguments {
    @Option(
        name: .long,
        parsing: .unconditional,
        help: ArgumentHelp(
            "Make a backup by itself this often, and check it: 1m to 366d, in minutes (m), hours (h) "
                + "or days (d). (default: never)",
            valueName: "time"
        )
    )
    var backupEvery: String?

    @Option(
        name: .long,
        parsing: .unconditional,
        help: ArgumentHelp(
            "Which scheduled backups are kept: so many of the newest, the last one of each day for "
                + "so many days (d), and of each week for so many weeks (w), as 24,7d,4w. "
                + "(default: \(BackupOptions().retention.newestCount))",
            valueName: "counts"
        )
    )
    var backupKeep: String?

    @Option(
        name: .long,
        parsing: .unconditional,
        help: ArgumentHelp(
            "Keep the journal for so long, 1m to 366d, to restore the state of a moment: see "
                + "feed-service restore --at. (default: what a start needs)",
            valueName: "time"
        )
    )
    var journalKeep: String?

    @Option(name: .long, help: .hidden)
    var spaceKept: Int = SpaceLimits().keptByteCount

    @Option(name: .long, help: .hidden)
    var segmentBytes: Int = JournalConfiguration(instanceID: 0).segmentByteCount

    /// Sets the options of a durable state; refuses them for a state in memory.
    func apply(to state: inout StateOptions?) throws(ServiceStartError) {
        guard state != nil else { return try checkNothingIsGiven() }
        state?.journal.space.keptByteCount = spaceKept
        state?.journal.segmentByteCount = segmentBytes
        if let journalKeep {
            let kept = try DurationFlag.read(
                journalKeep,
                "--journal-keep",
                in: Self.intervals,
                limits: "1m to 366d"
            )
            state?.journal.keptMicroseconds = UInt64(kept / .microseconds(1))
        }
        if let backupEvery {
            state?.backups.interval = try DurationFlag.read(
                backupEvery,
                "--backup-every",
                in: Self.intervals,
                limits: "1m to 366d"
            )
        }
        guard let backupKeep else { return }
        guard backupEvery != nil else {
            throw .badFlag("--backup-keep", "expected --backup-every with it.")
        }
        state?.backups.retention = try Self.retention(backupKeep)
    }

    /// The times that are allowed: backups that were made more often would never rest.
    private static let intervals = Duration.seconds(60)...Duration.seconds(366 * 86_400)

    /// The most backups that each of the numbers may keep.
    private static let counts = 1...10_000

    /// Reads the rule of retention: `24`, `24,7d` or `24,7d,4w`.
    private static func retention(_ text: String) throws(ServiceStartError) -> BackupRetention {
        let error = ServiceStartError.badFlag(
            "--backup-keep",
            "expected how many of the newest, 1 to 10000, and after it days or weeks, as 24,7d,4w; "
                + "got \(text)."
        )
        var parts = text.split(separator: ",", omittingEmptySubsequences: false)[...]
        func next(_ unit: Character?) -> Int? {
            guard let part = parts.first, unit == nil || part.last == unit else { return nil }
            let digits = unit == nil ? part : part.dropLast()
            guard let count = Int(digits), counts.contains(count) else { return nil }
            parts = parts.dropFirst()
            return count
        }
        guard let newestCount = next(nil) else { throw error }
        let dayCount = next("d") ?? 0
        let weekCount = next("w") ?? 0
        guard parts.isEmpty else { throw error }
        return BackupRetention(newestCount: newestCount, dayCount: dayCount, weekCount: weekCount)
    }

    private func checkNothingIsGiven() throws(ServiceStartError) {
        let given = [
            ("--backup-every", backupEvery), ("--backup-keep", backupKeep),
            ("--journal-keep", journalKeep),
        ]
        for case (let flag, let value?) in given {
            throw .badFlag(flag, "--in-memory keeps nothing, and goes without it; got \(value).")
        }
    }
}
