internal import FeedJournal

/// The starts whose clock was not where the last record of the journal had left it: ``TrueTimes`` tells from
/// them when records were written.
///
/// Times of records never go back. So the records of a run whose clock is behind the newest record have
/// times that are ahead of the clock by a shift, which is noted here.
package struct ClockSteps: Equatable, Sendable {
    /// A start.
    package struct Step: Equatable, Sendable {
        package let record: UInt64
        /// What the clock said when that was written, and at the start, in microseconds since 1970.
        package let before: UInt64
        package let after: UInt64
        /// How far the times of the records after it are ahead of the clock.
        package let shift: UInt64

        package init(record: UInt64, before: UInt64, after: UInt64, shift: UInt64 = 0) {
            self.record = record
            self.before = before
            self.after = after
            self.shift = shift
        }

        package var isBack: Bool { after < before }
        package var distance: UInt64 { isBack ? before - after : after - before }
        /// Whether it went farther than a clock is corrected.
        var isStep: Bool { distance > ClockSteps.slack }
    }

    /// The file, below the data directory: a line of four numbers for each step.
    static let name = "\(SegmentJournal.directoryName)/clock-steps"
    /// How many of the newest steps are kept; from then on no time is trusted.
    fileprivate static let maximumCount = 1024
    /// How far clocks may be apart that agree: five minutes, as a running service follows its clock.
    static let slack: UInt64 = 300_000_000

    private(set) var steps: [Step]

    init(_ files: any JournalFiles) throws(StorageError) {
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

    /// Notes, durably, where the clock of a start is not where the newest record, of the time that it has, or
    /// 0 where there is none, has left it; gives the step, if it is one, and the shift of the run.
    static func begin(
        at now: UInt64,
        after record: UInt64,
        of microseconds: UInt64,
        _ files: any JournalFiles
    ) throws(StorageError) -> (step: Step?, shift: UInt64) {
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

    private func write(_ files: any JournalFiles) throws(StorageError) {
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

/// When records were truly written, as far as the clocks of all starts tell.
///
/// Between two steps the clock was right, or wrong by the same distance all the time. Each step is the time
/// for which the service was stopped, plus how far the clock was set. The clock was right when the journal
/// began and is right now, so all steps together are the time of all stops. Runs are taken for right whose
/// steps are stops alone, where all of the longest such sequences have them. The others were written between
/// their neighbours that are right, in their order and with their length.
///
/// A step forward within a longer stop cannot be told from it.
struct TrueTimes {
    /// The records after one, up to those of the next run.
    private struct Run {
        let after: UInt64
        let shift: Int64
        /// What is to be added to the clock: one number where it was right.
        let correction: ClosedRange<Int64>
        /// The end of the run before that is right, and the begin of the next one.
        let place: ClosedRange<Int64>
    }

    private let runs: [Run]
    /// From the end of a run to the begin of the next one, where both are right.
    private let stops: [Range<Int64>]
    let areKnown: Bool

    /// The times of a journal's records, with the clock now in microseconds since 1970.
    init(_ clock: ClockSteps, now: UInt64, newest: RecoveryScan.Newest?) {
        let steps = clock.steps
        var sums: [Int64] = [0]
        for step in steps {
            let way = Int64(clamping: step.after) &- Int64(clamping: step.before)
            sums.append(sums[sums.count - 1] &+ way)
        }
        // The last run ends with the newest record, where that is left.
        var end = steps.last?.after ?? now
        if let newest, newest.number > steps.last?.record ?? 0 {
            end = clock.clock(of: newest.number, at: newest.microseconds)
        }
        sums.append(sums[sums.count - 1] &+ Int64(clamping: now) &- Int64(clamping: end))
        let right = Self.right(sums)
        areKnown = right != nil && steps.count < ClockSteps.maximumCount
        let isRight = areKnown ? right ?? [] : sums.map { _ in true }
        let slack = Int64(ClockSteps.slack)
        runs = (0...steps.count).map { run in
            var (correction, place) = (Int64(0)...0, Int64.min...Int64.max)
            if !isRight[run], let before = isRight[..<run].lastIndex(of: true),
                let next = isRight[run...].firstIndex(of: true)
            {
                let least = sums[before] &- sums[run] &- slack
                correction = least...max(least, sums[next] &- sums[run] &+ slack)
                let begin = Int64(clamping: steps[before].before)
                let end = Int64(clamping: next > steps.count ? now : steps[next - 1].after)
                place = begin...max(begin, end)
            }
            return Run(
                after: run == 0 ? 0 : steps[run - 1].record,
                shift: run == 0 ? 0 : Int64(clamping: steps[run - 1].shift),
                correction: correction,
                place: place
            )
        }
        stops = steps.indices.compactMap { index in
            let step = steps[index]
            guard isRight[index], isRight[index + 1], !step.isBack else { return nil }
            return Int64(clamping: step.before)
                + 1..<max(Int64(clamping: step.before) + 1, Int64(clamping: step.after))
        }
    }

    /// When a record was written, at the earliest and at the latest, in microseconds since 1970.
    func time(of record: UInt64, at microseconds: UInt64) -> ClosedRange<Int64> {
        let run = runs.last { $0.after < record } ?? runs[0]
        let clock = Int64(clamping: microseconds) - run.shift
        let (least, most) = (clock &+ run.correction.lowerBound, clock &+ run.correction.upperBound)
        return (least...max(least, most)).clamped(to: run.place)
    }

    /// Whether the service was stopped at a time, or its clock was set then.
    func isInStop(_ time: Int64) -> Bool { stops.contains { $0.contains(time) } }

    /// The runs whose clock was right: those that all of the longest sequences have which begin with the
    /// first run, end with now, and in which the sums of steps do not fall; nil where there is none.
    ///
    /// O(runs²).
    private static func right(_ sums: [Int64]) -> [Bool]? {
        let slack = Int64(ClockSteps.slack)
        let mayFollow = { (next: Int, run: Int) in sums[next] &+ slack >= sums[run] }
        // The runs of the longest sequence up to each, and from each on; 0 where there is none.
        var before = sums.map { _ in 0 }
        before[0] = 1
        for run in 1..<sums.count {
            for other in 0..<run where before[other] > 0 && mayFollow(run, other) {
                before[run] = max(before[run], before[other] + 1)
            }
        }
        var after = sums.map { _ in 0 }
        after[sums.count - 1] = 1
        for run in (0..<sums.count - 1).reversed() {
            for other in run + 1..<sums.count where after[other] > 0 && mayFollow(other, run) {
                after[run] = max(after[run], after[other] + 1)
            }
        }
        let longest = before[sums.count - 1]
        guard longest > 0 else { return nil }
        let isInOne = sums.indices.map { run in
            before[run] > 0 && after[run] > 0 && before[run] + after[run] == longest + 1
        }
        var counts: [Int: Int] = [:]
        for run in sums.indices where isInOne[run] { counts[before[run], default: 0] += 1 }
        return sums.indices.map { isInOne[$0] && counts[before[$0]] == 1 }
    }
}
