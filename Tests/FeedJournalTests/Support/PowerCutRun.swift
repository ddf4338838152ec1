import FeedDiskFaults
import FeedJournal
import FeedTestSupport
import Glibc

/// Lives of a journal on a disk that loses power, audited after each by what its writer remembers.
struct PowerCutRun {
    /// What may be broken on purpose, for the audit to notice.
    enum Fault {
        case none
        /// Syncs fail now and then, and the process ends there; nothing may be lost.
        case failingSync
        case noSync
        case blindHash
        case earlyUnlink
    }

    private var generator: SeededGenerator
    private let fault: Fault
    private let configuration: JournalConfiguration
    private var files = FakeDisk()

    /// What was acknowledged; the numbers of records are places in here, from 1.
    private var acknowledged: [WrittenRecord] = []
    private var positions: [JournalPosition] = [.start]

    /// What was under way when the power went.
    private var inFlight: WrittenRecord?

    /// What is kept elsewhere, as far as the next start will know.
    private var checkpointed = 0

    /// How often the power went.
    private(set) var cutCount = 0

    /// Whether forgotten segments stay, and are audited too.
    private let keepsAll: Bool

    init(seed: UInt64, fault: Fault = .none, keepsAll: Bool = false) {
        self.keepsAll = keepsAll
        generator = SeededGenerator(seed: seed)
        self.fault = fault
        var configuration = JournalConfiguration.small()
        if keepsAll { configuration.keptMicroseconds = .max / 2 }
        if fault == .noSync { configuration.durability = .os }
        if fault == .blindHash { configuration.hash = RecordHash { _, _ in 1 } }
        self.configuration = configuration
    }

    /// Lives some lives; answers what was wrong, nil if nothing was.
    mutating func run() -> String? {
        for _ in 0..<6 {
            if Int.random(in: 0..<10, using: &generator) > 0 {
                let longest = generator.oneIn(2) ? 20 : 600
                files.callsUntilPowerCut = Int.random(in: 0...longest, using: &generator)
            }
            if let complaint = live() { return complaint }
            guard !generator.oneIn(3) else {
                // The process alone dies: what it wrote is in the system's memory still.
                files.revive()
                continue
            }
            files = files.afterPowerCut(&generator)
            cutCount += 1
        }
        files.callsUntilPowerCut = .max
        return live()
    }

    private mutating func live() -> String? {
        files.failure = { _, _ in nil }
        do {
            let journal = try SegmentJournal(
                files,
                configuration,
                checkpointed: positions[checkpointed]
            )
            if let complaint = audit(journal, try journal.records(after: UInt64(checkpointed))) {
                return complaint
            }
            if keepsAll, try journal.records() != acknowledged {
                return "The records that were kept are others than were written."
            }
            if fault == .failingSync { failSyncs() }
            for _ in 0..<Int.random(in: 1...120, using: &generator) {
                let number = UInt64(acknowledged.count + 1)
                let record = WrittenRecord.random(number, &generator)
                inFlight = record
                positions.append(try journal.append(record))
                acknowledged.append(record)
                inFlight = nil
                if generator.oneIn(25) { try checkpoint(journal) }
            }
        } catch {
            if fault == .failingSync { return nil }
            guard files.isDead else { return "An error without a power cut: \(error)" }
        }
        return nil
    }

    /// Lets one of the next syncs fail, and those after it.
    private mutating func failSyncs() {
        var remaining = Int.random(in: 0...100, using: &generator)
        files.failure = { call, _ in
            guard call == .sync || call == .syncDirectory else { return nil }
            remaining -= 1
            return remaining < 0 ? EIO : nil
        }
    }

    private mutating func checkpoint(_ journal: SegmentJournal) throws {
        let number = Int.random(in: checkpointed...acknowledged.count, using: &generator)
        if fault != .earlyUnlink { checkpointed = number }
        try journal.forget(through: UInt64(number))
    }

    private mutating func audit(
        _ journal: SegmentJournal,
        _ found: [WrittenRecord]
    ) -> String? {
        var expected = Array(acknowledged[checkpointed...])
        if let inFlight, found.count == expected.count + 1 {
            // Not acknowledged, and there: from here on it stands.
            expected.append(inFlight)
            acknowledged.append(inFlight)
            positions.append(journal.last)
        }
        inFlight = nil
        guard found != expected else { return nil }
        let common = zip(found, expected).prefix { $0 == $1 }.count
        return "After record \(checkpointed): \(found.count) records, expected \(expected.count); "
            + "the first \(common) agree."
    }
}
