internal import ArgumentParser
internal import FeedJournal
internal import FeedState

/// The flags of the durable state.
struct StateFlags: ParsableArguments {
    @Option(
        "directory",
        "Where the state is kept: a directory, made where there is none. (default: "
            + "\(StateOptions.defaultPath))"
    )
    var dataDir: String?

    @Flag(help: "Keep all state in memory; it ends with the process.")
    var inMemory = false

    @Option(
        "fsync|os",
        "What an answer outlives: fsync is a power cut, os is a crash of the process only. "
            + "(default: \(FeedJournal.Durability.fsync.rawValue))"
    )
    var durability: String?

    @Option(
        "record",
        "Start although records are lost: the number of the last one that is left, as the "
            + "refusal to start names it. What is dropped is kept in quarantine/.",
        isAnyWord: true
    )
    var acceptDataLoss: UInt64?

    @Option(
        "count",
        "How many complete backups that calls have made are kept, 1 to 10000: the oldest go "
            + "once a new one is complete. (default: \(BackupOptions().keptCount))",
        isAnyWord: true
    )
    var keepBackups: Int?

    @Flag(help: "Say what --accept-data-loss would drop, change nothing, and exit.")
    var dryRun = false

    @Flag(
        help: "Refuse a data directory that has no state, as after a typo or on an unmounted disk."
    )
    var mustExist = false

    @Flag(help: .hidden) var keepJournal = false
    @Flag(help: .hidden) var stateHash = false
    @Option(name: .customLong("fold-bytes"), help: .hidden)
    var checkpointBytes: Int = StateOptions.defaultCheckpointByteCount
    @Option(help: .hidden) var spaceLow: Int = SpaceLimits().readOnlyByteCount
    @Option(help: .hidden) var spaceHigh: Int = SpaceLimits().resumeByteCount
    @Option(help: .hidden) var ballast: Int = SpaceLimits().ballastByteCount
}

/// The flags of backups on a schedule, and of the journal that is kept to go on from one.
struct BackupFlags: ParsableArguments {
    @Option(
        "time",
        "Make a backup by itself this often, and check it: 1m to 366d, in minutes (m), hours (h) "
            + "or days (d). (default: never)",
        isAnyWord: true
    )
    var backupEvery: String?

    @Option(
        "counts",
        "Which scheduled backups are kept: so many of the newest, the last one of each day for "
            + "so many days (d), and of each week for so many weeks (w), as 24,7d,4w. "
            + "(default: \(BackupOptions().retention.newestCount))",
        isAnyWord: true
    )
    var backupKeep: String?

    @Option(
        "time",
        "Keep the journal for so long, 1m to 366d, to restore the state of a moment: see "
            + "feed-service restore --at. (default: what a start needs)",
        isAnyWord: true
    )
    var journalKeep: String?

    @Option(help: .hidden) var spaceKept: Int = SpaceLimits().keptByteCount
    @Option(help: .hidden)
    var segmentBytes: Int = JournalConfiguration(instanceID: 0).segmentByteCount
}

extension StateOptions {
    /// The options of the flags; nil for a state in memory, which refuses all others.
    init?(
        _ flags: StateFlags,
        _ backupFlags: BackupFlags,
        logCount: Int
    ) throws(ServiceStartError) {
        guard !flags.inMemory else {
            let given = [
                ("--data-dir", flags.dataDir), ("--durability", flags.durability),
                ("--accept-data-loss", flags.acceptDataLoss.map { "\($0)" }),
                ("--keep-backups", flags.keepBackups.map { "\($0)" }),
                ("--must-exist", flags.mustExist ? "it" : nil),
                ("--dry-run", flags.dryRun ? "it" : nil),
                ("--backup-every", backupFlags.backupEvery),
                ("--backup-keep", backupFlags.backupKeep),
                ("--journal-keep", backupFlags.journalKeep),
            ]
            for case (let flag, let value?) in given {
                throw .badFlag(
                    flag,
                    "--in-memory keeps nothing, and goes without it; got \(value)."
                )
            }
            return nil
        }
        let path = flags.dataDir ?? Self.defaultPath
        guard !path.isEmpty else {
            throw .badFlag("--data-dir", "expected a directory, got an empty text.")
        }
        self.init(path: path, logCount: logCount)
        if let name = flags.durability {
            // A cluster's directory has a third one, which nobody chooses.
            guard let durability = FeedJournal.Durability(rawValue: name),
                durability != .replicated
            else {
                throw .badFlag("--durability", "expected fsync or os, got \(name).")
            }
            self.durability = durability
        }
        guard !flags.dryRun || flags.acceptDataLoss != nil else {
            throw .badFlag("--dry-run", "expected --accept-data-loss with it.")
        }
        acceptedLoss = flags.acceptDataLoss
        if let count = flags.keepBackups {
            backups.keptCount = try FlagValue.number("\(count)", "--keep-backups", in: 1...10_000)
        }
        mustExist = flags.mustExist
        keepsJournal = flags.keepJournal
        checkpointByteCount = flags.checkpointBytes
        journal.space.readOnlyByteCount = flags.spaceLow
        journal.space.resumeByteCount = flags.spaceHigh
        journal.space.ballastByteCount = flags.ballast
        try take(backupFlags)
    }

    private mutating func take(_ flags: BackupFlags) throws(ServiceStartError) {
        journal.space.keptByteCount = flags.spaceKept
        journal.segmentByteCount = flags.segmentBytes
        if let text = flags.journalKeep {
            let kept = try FlagValue.interval(text, "--journal-keep")
            journal.keptMicroseconds = UInt64(kept / .microseconds(1))
        }
        if let text = flags.backupEvery {
            backups.interval = try FlagValue.interval(text, "--backup-every")
        }
        guard let text = flags.backupKeep else { return }
        guard flags.backupEvery != nil else {
            throw .badFlag("--backup-keep", "expected --backup-every with it.")
        }
        backups.retention = try BackupRetention(flag: text)
    }
}

extension BackupRetention {
    /// Reads the rule of `--backup-keep`: `24`, `24,7d` or `24,7d,4w`.
    fileprivate init(flag text: String) throws(ServiceStartError) {
        var parts = text.split(separator: ",", omittingEmptySubsequences: false)[...]
        func next(_ unit: Character?) -> Int? {
            guard let part = parts.first, unit == nil || part.last == unit else { return nil }
            let digits = unit == nil ? part : part.dropLast()
            guard let count = Int(digits), (1...10_000).contains(count) else { return nil }
            parts = parts.dropFirst()
            return count
        }
        let newestCount = next(nil)
        let dayCount = next("d") ?? 0
        let weekCount = next("w") ?? 0
        guard let newestCount, parts.isEmpty else {
            throw .badFlag(
                "--backup-keep",
                "expected how many of the newest, 1 to 10000, and after it days or weeks, as 24,7d,4w; "
                    + "got \(text)."
            )
        }
        self.init(newestCount: newestCount, dayCount: dayCount, weekCount: weekCount)
    }
}
