internal import FeedJournal

/// The starts whose clock was not where the last record of the journal had left it: they tell of which
/// moments the times of records cannot be trusted.
///
/// Times of records never go back. So a clock that was ahead, or is behind, shows when it is set right, or
/// at once: the next start finds it behind the newest record. A step forward may be a time for which the
/// service was stopped.
package struct ClockSteps: Equatable, Sendable {
    /// A start.
    package struct Step: Equatable, Sendable {
        /// The last record before it.
        package let record: UInt64
        /// When that was written, and what the clock said at the start, in microseconds since 1970.
        package let before: UInt64
        package let after: UInt64

        /// A start after a record.
        package init(record: UInt64, before: UInt64, after: UInt64) {
            self.record = record
            self.before = before
            self.after = after
        }

        /// Whether the clock went back.
        package var isBack: Bool { after < before }
        /// How far it went.
        package var distance: UInt64 { isBack ? before - after : after - before }
        /// Whether it went farther than a clock is corrected.
        var isStep: Bool { distance > ClockSteps.slack }
    }

    /// The file, below the data directory: a line of three numbers for each step.
    static let name = "\(SegmentJournal.directoryName)/clock-steps"
    /// How many of the newest steps are kept.
    static let maximumCount = 64
    /// How far clocks may be apart that agree: five minutes, as a running service follows its clock.
    static let slack: UInt64 = 300_000_000

    /// The steps, the oldest one first.
    private(set) var steps: [Step]

    /// The steps that are noted.
    init(_ files: any JournalFiles) throws(FileError) {
        let bytes = try files.begin(of: Self.name, byteCount: 1 << 16) ?? []
        steps = String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
            let numbers = line.split(separator: " ").compactMap { UInt64($0) }
            guard numbers.count == 3 else { return nil }
            return Step(record: numbers[0], before: numbers[1], after: numbers[2])
        }
    }

    /// Notes a step, durably; steps of which the journal has no record any more go together.
    static func add(_ step: Step, _ files: any JournalFiles) throws(FileError) {
        var noted = try ClockSteps(files)
        let first = try RecoveryScan.firstRecord(files) ?? 0
        if let last = noted.steps.last, last.record < first { noted.steps = [] }
        noted.steps.append(step)
        let lines = noted.steps.suffix(maximumCount).map {
            "\($0.record) \($0.before) \($0.after)\n"
        }
        let file = try files.create("\(name).new")
        try file.write(Array(lines.joined().utf8).span, at: 0)
        try file.sync()
        try files.rename("\(name).new", to: name)
        try files.syncDirectory(SegmentJournal.directoryName)
    }

    /// Adds what the clock of now is to the newest record, where that is a step.
    ///
    /// A step forward is a service at rest, unless a clock went back once: it may be behind still.
    mutating func add(now: UInt64, newest: UInt64) {
        let step = Step(record: .max, before: newest, after: now)
        if step.isStep, step.isBack || steps.contains(where: \.isBack) { steps.append(step) }
    }

    /// Whether the records up to a moment are those whose times are not above it, where the clock was right
    /// when the journal began, and is right now.
    func areTrusted(at moment: UInt64) -> Bool {
        // A clock that was behind was set right in such a gap.
        guard !steps.contains(where: { $0.before < moment && moment < $0.after }) else {
            return false
        }
        guard let last = steps.last, let back = steps.firstIndex(where: \.isBack) else {
            return true
        }
        guard moment < max(last.before, last.after) else { return true }
        // A clock that was ahead was set so at a step before; the steps before a single one back say where.
        guard back > 0, !steps[(back + 1)...].contains(where: \.isBack) else { return false }
        let ahead = steps[..<back].reduce(Double(Self.slack)) { $0 + Double($1.distance) }
        return ahead >= Double(steps[back].distance) && moment < steps[0].before
    }
}
