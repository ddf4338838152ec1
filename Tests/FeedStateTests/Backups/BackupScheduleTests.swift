import FeedState
import Foundation
import Testing

@Suite struct BackupScheduleTests {
    /// The time of day and the clock that cannot be set, at a start.
    private static let day = Date(timeIntervalSince1970: 1_800_000_000)
    private static let start: TimeInterval = 5000

    private static func schedule(after newest: Date?) -> BackupSchedule {
        var schedule = BackupSchedule(every: .seconds(3600))
        schedule.begin(after: newest, timeOfDay: day, at: start)
        return schedule
    }

    @Test func nothingIsDueUntilTheNewestBackupIsKnown() {
        let schedule = BackupSchedule(every: .seconds(3600))
        #expect(!schedule.isDue(at: Self.start) && schedule.due == nil)
    }

    @Test("the newest backup says when the next one is due, and not the start")
    func goesByTheNewestBackup() {
        #expect(Self.schedule(after: nil).due == Self.start)
        #expect(Self.schedule(after: Self.day - 600).due == Self.start + 3000)
        #expect(Self.schedule(after: Self.day - 7200).isDue(at: Self.start))
    }

    @Test func eachBackupIsDueAnIntervalAfterTheOneBeforeItBegan() {
        var schedule = Self.schedule(after: nil)
        schedule.succeeded(began: Self.start + 5)
        #expect(!schedule.isDue(at: Self.start + 3604) && schedule.isDue(at: Self.start + 3605))
    }

    @Test func aFailureIsTriedAgainLaterEachTime() {
        var schedule = Self.schedule(after: nil)
        var now = Self.start
        var delays: [TimeInterval] = []
        for _ in 0..<9 {
            schedule.failed(at: now)
            let due = schedule.due ?? now
            delays.append(due - now)
            now = due
        }
        #expect(delays == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600])
        schedule.succeeded(began: now)
        schedule.failed(at: now)
        #expect(schedule.due == now + 60)
    }

    @Test func aFailureWaitsNoLongerThanTheInterval() {
        var schedule = BackupSchedule(every: .seconds(90))
        schedule.begin(after: nil, timeOfDay: Self.day, at: Self.start)
        for _ in 0..<3 { schedule.failed(at: Self.start) }
        #expect(schedule.due == Self.start + 90)
    }

    @Test("a newest backup of a clock that was ahead puts nothing off")
    func passesOverABackupToCome() {
        for ahead: TimeInterval in [301, 86_400, 31_622_400] {
            #expect(Self.schedule(after: Self.day + ahead).due == Self.start)
        }
        // A clock that was corrected by seconds.
        #expect(Self.schedule(after: Self.day + 20).due == Self.start + 3600)
    }
}
