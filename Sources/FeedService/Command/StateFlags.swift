internal import ArgumentParser
internal import FeedJournal
internal import FeedState

/// The flags about what outlives the process.
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
        help: ArgumentHelp(
            "Go on although records are lost: the number of the last one that is left, as the "
                + "refusal to start names it.",
            valueName: "record"
        )
    )
    var acceptDataLoss: UInt64?

    @Flag(name: .long, help: .hidden)
    var keepJournal = false

    @Flag(name: .long, help: .hidden)
    var stateHash = false

    @Option(name: .long, help: .hidden)
    var foldBytes: Int = StateOptions.defaultFoldByteCount

    @Option(name: .long, help: .hidden)
    var spaceLow: Int = SpaceLimits().readOnlyByteCount

    @Option(name: .long, help: .hidden)
    var spaceHigh: Int = SpaceLimits().resumeByteCount

    @Option(name: .long, help: .hidden)
    var ballast: Int = SpaceLimits().ballastByteCount
}

extension StateOptions {
    /// What the flags say; nil for a state in memory.
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
        acceptedLoss = flags.acceptDataLoss
        keepsJournal = flags.keepJournal
        foldByteCount = flags.foldBytes
        guard maximumWaitingByteCount >= 1 << 20 else {
            let limit = (journal.maximumBodyByteCount - 1 << 20) / longestSectionByteCount
            throw .badFlag(
                "--threads",
                "with a durable state expected at most \(limit), got \(logCount)."
            )
        }
        journal.space.readOnlyByteCount = flags.spaceLow
        journal.space.resumeByteCount = flags.spaceHigh
        journal.space.ballastByteCount = flags.ballast
    }
}

extension StateFlags {
    /// Whoever names a directory beside `--in-memory` would miss it later.
    fileprivate func checkNothingIsKept() throws(ServiceStartError) {
        let given = [
            ("--data-dir", dataDir), ("--durability", durability),
            ("--accept-data-loss", acceptDataLoss.map { "\($0)" }),
        ]
        for case (let flag, let value?) in given {
            throw .badFlag(flag, "--in-memory keeps nothing, and goes without it; got \(value).")
        }
    }
}
