internal import ArgumentParser
internal import FeedJournal
internal import FeedState

struct StateFlags: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Where the state is kept: a directory, made where there is none. (default: "
                + "\(StateOptions.defaultPath))",
            valueName: "directory"
        )
    )
    var dataDir: String?

    @Flag(name: .long, help: "Keep all state in memory; it ends with the process.")
    var inMemory = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "What an answer outlives: fsync is a power cut, os is a crash of the process only. "
                + "(default: \(FeedJournal.Durability.fsync.rawValue))",
            valueName: "fsync|os"
        )
    )
    var durability: String?

    @Option(
        name: .long,
        parsing: .unconditional,
        help: ArgumentHelp(
            "Start although records are lost: the number of the last one that is left, as the "
                + "refusal to start names it. What is dropped is kept in quarantine/.",
            valueName: "record"
        )
    )
    var acceptDataLoss: UInt64?

    @Option(
        name: .long,
        parsing: .unconditional,
        help: ArgumentHelp(
            "How many complete backups that calls have made are kept, 1 to 10000: the oldest go "
                + "once a new one is complete. (default: \(BackupOptions().keptCount))",
            valueName: "count"
        )
    )
    var keepBackups: Int?

    @Flag(
        name: .long,
        help: "Say what --accept-data-loss would drop, change nothing, and exit."
    )
    var dryRun = false

    @Flag(
        name: .long,
        help: "Refuse a data directory that has no state, as after a typo or on an unmounted disk."
    )
    var mustExist = false

    @Flag(name: .long, help: .hidden)
    var keepJournal = false

    @Flag(name: .long, help: .hidden)
    var stateHash = false

    @Option(name: .customLong("fold-bytes"), help: .hidden)
    var checkpointBytes: Int = StateOptions.defaultCheckpointByteCount

    @Option(name: .long, help: .hidden)
    var spaceLow: Int = SpaceLimits().readOnlyByteCount

    @Option(name: .long, help: .hidden)
    var spaceHigh: Int = SpaceLimits().resumeByteCount

    @Option(name: .long, help: .hidden)
    var ballast: Int = SpaceLimits().ballastByteCount
}

extension StateOptions {
    /// The options of the flags; nil for a state in memory.
    init?(_ flags: StateFlags, logCount: Int) throws(ServiceStartError) {
        if flags.inMemory {
            try flags.checkNothingIsKept()
            return nil
        }
        let path = flags.dataDir ?? Self.defaultPath
        guard !path.isEmpty else {
            throw .badFlag("--data-dir", "expected a directory, got an empty text.")
        }
        self.init(path: path, logCount: logCount)
        if let name = flags.durability {
            guard let durability = FeedJournal.Durability(rawValue: name) else {
                throw .badFlag("--durability", "expected fsync or os, got \(name).")
            }
            self.durability = durability
        }
        guard !flags.dryRun || flags.acceptDataLoss != nil else {
            throw .badFlag("--dry-run", "expected --accept-data-loss with it.")
        }
        acceptedLoss = flags.acceptDataLoss
        if let count = flags.keepBackups {
            guard (1...10_000).contains(count) else {
                throw .badFlag("--keep-backups", "expected 1 to 10000, got \(count).")
            }
            backups.keptCount = count
        }
        mustExist = flags.mustExist
        keepsJournal = flags.keepJournal
        checkpointByteCount = flags.checkpointBytes
        journal.space.readOnlyByteCount = flags.spaceLow
        journal.space.resumeByteCount = flags.spaceHigh
        journal.space.ballastByteCount = flags.ballast
    }
}

extension StateFlags {
    /// Refuses flags of a durable state beside `--in-memory`, so that no operator expects one.
    fileprivate func checkNothingIsKept() throws(ServiceStartError) {
        let given = [
            ("--data-dir", dataDir), ("--durability", durability),
            ("--accept-data-loss", acceptDataLoss.map { "\($0)" }),
            ("--keep-backups", keepBackups.map { "\($0)" }),
            ("--must-exist", mustExist ? "it" : nil), ("--dry-run", dryRun ? "it" : nil),
        ]
        for case (let flag, let value?) in given {
            throw .badFlag(flag, "--in-memory keeps nothing, and goes without it; got \(value).")
        }
    }
}
