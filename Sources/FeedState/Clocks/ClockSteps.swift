internal import FeedJournal

/// The starts whose clock was not where the last record of the journal had left it: ``TrueTimes`` tells from
/// them when records were written.
///
/// Times of records never go back. So the records of a run whose clock is behind the newest record have
/// times that are ahead of the clock by a shift, which is noted here.
package struct ClockSteps: Equatable, Sendable {
    /// A start.
    package struct Step: Equatable, Sendable {
        /// The last record before it.
        package let record: UInt64
        /// What the clock said when that was written, and at the start, in microseconds since 1970.
        package let before: UInt64
        package let after: UInt64
        /// How far the times of the records after it are ahead of the clock.
        package let shift: UInt64

        /// A start after a record.
        package init(record: UInt64, before: UInt64, after: UInt64, shift: UInt64 = 0) {
            self.record = record
            self.before = before
            self.after = after
            self.shift = shift
        }

        /// Whether the clock went back.
        package var isBack: Bool { after < before }
        /// How far it went.
        package var distance: UInt64 { isBack ? before - after : after - before }
        /// Whether it went farther than a clock is corrected.
        var isStep: Bool { distance > ClockSteps.slack }
    }

    /// The file, below the data directory: a line of four numbers for each step.
    static let name = "\(SegmentJournal.directoryName)/clock-steps"
    /// How many of the newest steps are kept; from then on no time is trusted.
    static let maximumCount = 1024
    /// How far clocks may be apart that agree: five minutes, as a running service follows its clock.
    static let slack: UInt64 = 300_000_000

    /// The steps, the oldest one first.
    private(set) var steps: [Step]

    /// The steps that are noted.
    init(_ files: any JournalFiles) throws(FileError) {
        let bytes = try files.begin(of: Self.name, byteCount: 1 << 17) ?? []
        steps = String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
            let numbers = line.split(separator: " ").compactMap { UInt64($0) }
            guard numbers.count == 4 else { return nil }
            return Step(
                record: numbers[0],
                before: numbers[1],
                after: numbers[2],
                shift: numbers[3]
            )
        }
    }

    /// What the clock said when a record was written, if its time did not wait for the clock.
    func clock(of record: UInt64, at microseconds: UInt64) -> UInt64 {
        let shift = steps.last { $0.record < record }?.shift ?? 0
        return microseconds - min(shift, microseconds)
    }

    /// Notes, durably, where the clock of a start is not where the newest record has left it.
    ///
    /// - Parameters:
    ///   - now: The clock.
    ///   - record: The newest record.
    ///   - microseconds: The time that it has; 0 where there is none.
    ///   - files: The data directory.
    /// - Returns: The step, if it is one, and the shift of the run.
    /// - Throws: What the system says.
    static func begin(
        at now: UInt64,
        after record: UInt64,
        of microseconds: UInt64,
        _ files: any JournalFiles
    ) throws(FileError) -> (step: Step?, shift: UInt64) {
        let found = try ClockSteps(files)
        var noted = found
        // Of starts that ended before their first record.
        noted.steps.removeAll { $0.record >= record }
        let step = Step(
            record: record,
            before: noted.clock(of: record, at: microseconds),
            after: now,
            shift: microseconds - min(microseconds, now)
        )
        let isStep = microseconds > 0 && step.isStep
        if isStep { noted.steps.append(step) }
        if noted != found { try noted.write(files) }
        return (isStep ? step : nil, noted.steps.last?.shift ?? 0)
    }

    private func write(_ files: any JournalFiles) throws(FileError) {
        let lines = steps.suffix(Self.maximumCount).map {
            "\($0.record) \($0.before) \($0.after) \($0.shift)\n"
        }
        let file = try files.create("\(Self.name).new")
        try file.write(Array(lines.joined().utf8).span, at: 0)
        try file.sync()
        try files.rename("\(Self.name).new", to: Self.name)
        try files.syncDirectory(SegmentJournal.directoryName)
    }
}
