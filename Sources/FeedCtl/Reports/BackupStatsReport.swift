package import FeedProto

/// The state of the backups, as `backups` reports it, and as a part of what `stats` does.
package struct BackupStatsReport: Report, Equatable {
    let isRunning: Bool
    let copiedByteCount: UInt64
    let byteCount: UInt64
    let lastName: String
    let lastTimeMs: Int64
    let lastByteCount: UInt64
    let lastDurationMs: UInt64
    let lastError: String
    let lastErrorTimeMs: Int64
    let failureCount: UInt64
    let scheduleIntervalMs: UInt64
    let nextTimeMs: Int64

    /// The report of backups; zeros where there are none, so that programs find the same members
    /// everywhere.
    package init(_ stats: BackupStats?) {
        let stats = stats ?? BackupStats()
        isRunning = stats.isRunning
        copiedByteCount = stats.copiedByteCount
        byteCount = stats.byteCount
        lastName = stats.lastName
        lastTimeMs = stats.lastTimeMilliseconds
        lastByteCount = stats.lastByteCount
        lastDurationMs = stats.lastDurationMilliseconds
        lastError = stats.lastError
        lastErrorTimeMs = stats.lastErrorTimeMilliseconds
        failureCount = stats.failureCount
        scheduleIntervalMs = stats.scheduleIntervalMilliseconds
        nextTimeMs = stats.nextTimeMilliseconds
    }

    /// The lines for people, alone.
    package func text(_ style: TextStyle) -> String {
        var fields = FieldList()
        add(to: &fields, style)
        return fields.rendered()
    }

    /// The lines for people.
    func add(to fields: inout FieldList, _ style: TextStyle) {
        fields.add(
            "last backup",
            lastName.isEmpty ? "none" : "\(lastName), \(style.time(lastTimeMs))"
        )
        if isRunning {
            let stats = BackupStats(
                isRunning: true,
                copiedByteCount: copiedByteCount,
                byteCount: byteCount
            )
            fields.add("backup under way", BackupProgress(stats).text)
        }
        if nextTimeMs != 0 { fields.add("next backup", style.time(nextTimeMs)) }
        if failureCount > 0 { fields.add("failed backups", "\(failureCount)") }
        if !lastError.isEmpty {
            fields.add("failed backup", "\(style.time(lastErrorTimeMs)): \(lastError)")
        }
    }
}
