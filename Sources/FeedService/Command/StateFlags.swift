internal import ArgumentParser
internal import FeedJournal
internal import FeedState

/// The flags about what outlives the process.
struct StateFlags: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Where the state is kept: a directory, made where there is none.",
            valueName: "directory"
        )
    )
    var dataDir: String = StateOptions.defaultPath

    @Flag(name: .long, help: "Keep all state in memory; it ends with the process.")
    var inMemory = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "What an answer outlives: fsync is a power cut, os is a crash of the process only.",
            valueName: "fsync|os"
        )
    )
    var durability: String = FeedJournal.Durability.fsync.rawValue

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
        guard let durability = FeedJournal.Durability(rawValue: flags.durability) else {
            throw .badFlag("--durability", "expected fsync or os, got \(flags.durability).")
        }
        guard !flags.inMemory else { return nil }
        guard !flags.dataDir.isEmpty else {
            throw .badFlag("--data-dir", "expected a directory, got an empty text.")
        }
        self.init(path: flags.dataDir, logCount: logCount)
        self.durability = durability
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
