import FeedCtl
import FeedProto
import Testing

/// What `backup` and `stats` say of backups.
struct BackupReportTests {
    @Test func progressIsAShareOfTheBytes() {
        #expect(
            BackupProgress(BackupStats(copiedByteCount: 420, byteCount: 1000)).text
                == "42 % of 1 MB"
        )
        #expect(BackupProgress(BackupStats(isRunning: true)).text.hasPrefix("waiting"))
    }

    @Test("a command that gives up says whether the service continues the backup")
    func saysWhetherTheBackupContinues() {
        let running = BackupStats(isRunning: true, copiedByteCount: 500, byteCount: 1000)
        let text = "\(BackupFailure.stillRunning(.seconds(5), running))"
        #expect(text.contains("within 5.0 seconds"))
        #expect(text.contains("continues the backup (50 % of 1 MB)"))
        #expect(text.contains("feedctl stats"))
        let failed = BackupStats(lastError: "The disk is full.")
        #expect("\(BackupFailure.stillRunning(.seconds(5), failed))".hasSuffix("The disk is full."))
        let done = BackupStats(lastName: "20270115T080000123Z")
        #expect(
            "\(BackupFailure.stillRunning(.seconds(5), done))".hasSuffix("20270115T080000123Z.")
        )
        #expect("\(BackupFailure.stillRunning(.seconds(5), nil))".contains("may continue"))
    }

    @Test func statsShowTheLastAndTheRunningBackup() throws {
        let backups = BackupStats(
            isRunning: true,
            copiedByteCount: 1_000_000,
            byteCount: 4_000_000,
            lastName: "20270115T080000123Z",
            lastTimeMilliseconds: ReportTests.now - 7_200_000,
            lastError: "The disk is full.",
            lastErrorTimeMilliseconds: ReportTests.now - 60_000,
            failureCount: 2,
            scheduleIntervalMilliseconds: 3_600_000,
            nextTimeMilliseconds: ReportTests.now + 60_000
        )
        let text = ReportTests.text(StatsReportTests.stats(StatsReportTests.journal, backups))
        #expect(text.contains("last backup       20270115T080000123Z, "))
        #expect(text.contains("backup under way  25 % of 4 MB"))
        #expect(text.contains("The disk is full."))
        #expect(text.contains("next backup "))
        #expect(text.contains("failed backups    2"))
        let object = try ReportTests.object(
            StatsReportTests.stats(StatsReportTests.journal, backups)
        )
        let shown = try #require(object["backups"] as? [String: Any])
        #expect(shown["last_name"] as? String == "20270115T080000123Z")
        #expect(shown["is_running"] as? Bool == true)
        #expect(shown["failure_count"] as? Int == 2)
        #expect(shown["schedule_interval_ms"] as? Int == 3_600_000)
        let none = StatsReportTests.stats(StatsReportTests.journal, BackupStats())
        #expect(ReportTests.text(none).contains("last backup       none"))
        let untold = ReportTests.text(StatsReportTests.stats(StatsReportTests.journal))
        #expect(untold.contains("disk, backups     told to callers with a key only"))
    }
}
