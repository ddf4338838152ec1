import FeedState
import FeedTestSupport
import Foundation
import Testing

@Suite struct BackupRetentionTests {
    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = .gmt
        return calendar
    }()

    /// The rule by calendar: the newest backup of each day and week, by the dates' own components.
    private static func model(_ rule: BackupRetention, _ times: [Date]) -> Set<Date> {
        let sorted = times.sorted(by: >)
        func newest(of unit: (Date) -> DateComponents, _ count: Int) -> [Date] {
            let groups = Dictionary(grouping: sorted, by: unit).values.compactMap { $0.max() }
            return Array(groups.sorted(by: >).prefix(count))
        }
        let days = newest(
            of: { calendar.dateComponents([.year, .month, .day], from: $0) },
            rule.dayCount
        )
        let weeks = newest(
            of: { calendar.dateComponents([.yearForWeekOfYear, .weekOfYear], from: $0) },
            rule.weekCount
        )
        return Set(sorted.prefix(rule.newestCount)).union(days).union(weeks)
    }

    @Test("a backup stays while it is among the newest, or the last of a day or a week")
    func agreesWithTheCalendar() {
        let seed: UInt64 = 20_261_126
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let rule = BackupRetention(
                newestCount: .random(in: 1...30, using: &generator),
                dayCount: .random(in: 0...10, using: &generator),
                weekCount: .random(in: 0...6, using: &generator)
            )
            let span = Double.random(in: 3600...8_000_000, using: &generator)
            let start = Double.random(in: 0...4_000_000_000, using: &generator)
            let times = (0..<Int.random(in: 1...200, using: &generator)).map { _ in
                Date(timeIntervalSince1970: start + .random(in: 0...span, using: &generator))
            }
            .sorted(by: >)
            let kept = Set(rule.kept(of: times).map { times[$0] })
            #expect(kept == Self.model(rule, times), "seed \(seed), \(rule)")
        }
    }

    @Test("hour after hour, the last backups of the finished days and weeks are those that stay")
    func keepsDaysAndWeeksHourAfterHour() {
        let rule = BackupRetention(newestCount: 24, dayCount: 7, weekCount: 4)
        // A Monday.
        let start = Date(timeIntervalSince1970: 1_768_780_800)
        var kept: [Date] = []
        for hour in 0..<24 * 7 * 8 {
            kept.insert(start + Double(hour) * 3600, at: 0)
            let indices = rule.kept(of: kept)
            kept = indices.sorted().map { kept[$0] }
            #expect(kept.count <= 24 + 7 + 4)
        }
        let end = kept[0]
        let hours = kept.map { Int(end.timeIntervalSince($0)) / 3600 }
        let newest = Array(0..<24)
        let days = (1...6).map { $0 * 24 }
        let weeks = [7, 14, 21].map { $0 * 24 }
        #expect(hours == newest + days + weeks)
    }

    @Test("an outage costs no old backup")
    func countsOnlyDaysThatHaveOne() {
        let rule = BackupRetention(newestCount: 1, dayCount: 3)
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let times = [0, 100, 200, 300].map { now - Double($0) * 86_400 }
        #expect(rule.kept(of: times) == [0, 1, 2])
    }

    @Test func oneKindCostsTheOtherNothing() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        let now = Locked(Date(timeIntervalSince1970: 1_800_000_000))
        var options = BackupOptions()
        options.keptCount = 2
        options.retention = BackupRetention(newestCount: 1, dayCount: 2)
        options.timeOfDay = { now.withLock { $0 } }
        func make(_ kind: BackupKind) throws -> String {
            let job = try BackupJob(of: database, options, kind: kind, reservedByteCount: 0)
            try job.open()
            while try !job.step() {}
            try job.verify()
            let name = try job.finish().backup.name
            try database.thaw()
            return name
        }
        let called = [try make(.called), try make(.called)]
        var scheduled: [String] = []
        for _ in 0..<5 {
            now.withLock { $0 += 43_200 }
            scheduled.append(try make(.scheduled))
        }
        // The last ones of the last two days, of which one is the newest.
        #expect(
            try BackupFolders.complete(directory.files) == called + [scheduled[2], scheduled[4]]
        )
        #expect(scheduled.allSatisfy { BackupFolders.time(of: $0) != nil })
        let last = try make(.called)
        #expect(
            try BackupFolders.complete(directory.files).sorted()
                == [called[1], scheduled[2], scheduled[4], last].sorted()
        )
    }
}
