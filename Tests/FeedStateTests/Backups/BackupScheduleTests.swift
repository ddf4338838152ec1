import FeedState
import Foundation
import Testing

@Suite struct BackupScheduleTests {
    private static let start = Date(timeIntervalSince1970: 1_800_000_000)

    private static func schedule(after newest: Date?) -> BackupSchedule {
        var schedule = BackupSchedule(every: .seconds(3600))
        schedule.begin(after: newest, at: start)
        return schedule
    }

    @Test func nothingIsDueUntilTheNewestBackupIsKnown() {
        var schedule = BackupSchedule(every: .seconds(3600))
        let isDue = schedule.isDue(at: Self.start)
        #expect(!isDue && schedule.due == nil)
    }

    @Test("the newest backup says when the next one is due, and not the start")
    func goesByTheNewestBackup() {
        #expect(Self.schedule(after: nil).due == Self.start)
        #expect(Self.schedule(after: Self.start - 600).due == Self.start + 3000)
        var late = Self.schedule(after: Self.start - 7200)
        let isDue = late.isDue(at: Self.start)
        #expect(isDue)
    }

    @Test func eachBackupIsDueAnIntervalAfterTheOneBeforeItBegan() {
        var schedule = Self.schedule(after: nil)
        schedule.succeeded(began: Self.start + 5)
        let isEarly = schedule.isDue(at: Self.start + 3604)
        let isDue = schedule.isDue(at: Self.start + 3605)
        #expect(!isEarly && isDue)
    }

    @Test func aFailureIsTriedAgainLaterEachTime() {
        var schedule = Self.schedule(after: nil)
        var now = Self.start
        var delays: [Double] = []
        for _ in 0..<9 {
            schedule.failed(at: now)
            let due = schedule.due ?? now
            delays.append(due.timeIntervalSince(now))
            now = due
        }
        #expect(delays == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600])
        schedule.succeeded(began: now)
        schedule.failed(at: now)
        #expect(schedule.due == now + 60)
    }

    @Test func aFailureWaitsNoLongerThanTheInterval() {
        var schedule = BackupSchedule(every: .seconds(90))
        schedule.begin(after: nil, at: Self.start)
        for _ in 0..<3 { schedule.failed(at: Self.start) }
        #expect(schedule.due == Self.start + 90)
    }

    @Test("a clock that is set back a year postpones nothing by more than an interval")
    func boundsTheWait() {
        var schedule = Self.schedule(after: nil)
        schedule.succeeded(began: Self.start)
        let past = Self.start - 366 * 86_400
        let isDue = schedule.isDue(at: past)
        #expect(!isDue && schedule.due == past + 3600)
        let isDueThen = schedule.isDue(at: past + 3600)
        #expect(isDueThen)
    }
}
