extension ReportMembers {
    /// Far more than a run counts, and few enough that those of a thousand generators add up.
    static let mostCounted: UInt64 = 1 << 50
    /// More seconds than a run has.
    static let mostIntervals = 10_000_000

    /// Checks that every number that is converted or added up is within its limits.
    func check() throws(ReportFault) {
        try config.check()
        try ReportFault.check("intervals", intervals.count, 0...Self.mostIntervals)
        try ReportFault.check("measured_seconds", measuredSeconds, 0...1e9)
        try ReportFault.check("requests_per_second", requestsPerSecond, 0...1e12)
        try ReportFault.check("env.cores", env.cores, 0...65_536)
        for (name, count) in counts {
            try ReportFault.check(name, count, 0...Self.mostCounted)
        }
        let most = Int64(Self.mostCounted)
        try ReportFault.check("audit.votes_counted", audit.votesCounted, -most...most)
        try ReportFault.check("connections.opened", Int64(connections.opened), 0...most)
        try ReportFault.check("connections.lost", Int64(connections.lost), 0...most)
        for (number, file) in (dataset?.files ?? []).enumerated() {
            try file.check("dataset.files[\(number)]")
        }
    }

    private var counts: [(name: String, count: UInt64?)] {
        var counts: [(name: String, count: UInt64?)] = [
            ("outcomes.sent", outcomes.sent), ("outcomes.ok", outcomes.ok),
            ("outcomes.error", outcomes.error), ("outcomes.timeout", outcomes.timeout),
            ("outcomes.lost", outcomes.lost), ("outcomes.late_answers", outcomes.lateAnswers),
            ("outcomes.late_sends", outcomes.lateSends), ("outcomes.unsent", outcomes.unsent),
            ("outcomes.retries", outcomes.retries), ("outcomes.reconnects", outcomes.reconnects),
            ("outcomes.duplicates", outcomes.duplicates),
            ("connections.reads", connections.reads), ("connections.writes", connections.writes),
            ("connections.bytes_in", connections.bytesIn),
            ("connections.bytes_out", connections.bytesOut),
            ("cpu.server.resident_bytes", cpu.server?.residentBytes),
            ("cpu.generator.resident_bytes", cpu.generator?.residentBytes),
            ("audit.votes_acknowledged", audit.votesAcknowledged),
            ("audit.votes_unknown", audit.votesUnknown),
            ("audit.votes_failed", audit.votesFailed), ("audit.posts", audit.posts),
            ("audit.posts_exact", audit.postsExact), ("audit.posts_created", audit.postsCreated),
            ("audit.posts_listed", audit.postsListed),
            ("latency_split_ms.sample_count", latencySplitMs?.sampleCount),
            ("latency_split_ms.other_clock_count", latencySplitMs?.otherClockCount),
        ]
        counts += ops.map { ("ops.\($0.key).count", $0.value.count) }
        counts += errors.causes.map { ("errors.causes.\($0.key)", $0.value) }
        counts += errors.server.map { ("errors.server.\($0.key)", $0.value) }
        counts += (audit.violations ?? [:]).map { ("audit.violations.\($0.key)", $0.value) }
        return counts
    }
}

extension ReportMembers.Configuration {
    /// Checks the numbers by the limits of the flags; what generators add up has more room.
    fileprivate func check() throws(ReportFault) {
        let numbers: [(name: String, value: Int, limits: ClosedRange<Int>)] = [
            ("clients", clients, 1...10_000_000), ("threads", threads, 1...64_000),
            ("pipeline", pipeline, 1...1024), ("batch", batch, 1...RunConfiguration.longestBatch),
            ("posts", posts, 0...10_000_000_000),
            ("voters", voters, 0...RunConfiguration.mostVoters),
            ("page_size", pageSize, 1...100), ("retry", retry, 0...1000),
        ]
        for (name, value, limits) in numbers {
            try ReportFault.check("config.\(name)", value, limits)
        }
        let times: [(name: String, value: Double?, limits: ClosedRange<Double>)] = [
            ("rate", rate, 0...1e10), ("duration_seconds", durationSeconds, 0...86_400),
            ("warmup_seconds", warmupSeconds, 0...3600),
            ("timeout_seconds", timeoutSeconds, 0...60),
            ("connection_life_seconds", connectionLifeSeconds, 0...86_400),
        ]
        for (name, value, limits) in times {
            try ReportFault.check("config.\(name)", value, limits)
        }
        for (number, percentile) in (percentiles ?? []).enumerated() {
            try ReportFault.check("config.percentiles[\(number)]", percentile, 0...100)
        }
        for (number, rate) in (ramp ?? []).enumerated() {
            try ReportFault.check("config.ramp[\(number)]", rate, 0...1e10)
        }
        try ReportFault.check("config.requests", requests, 0...ReportMembers.mostCounted)
        try ReportFault.check("config.reconnect_every", reconnectEvery, 0...1_000_000_000)
    }
}

extension ReportMembers.Dataset.File {
    /// Checks the counts, of which the files of a run add up.
    fileprivate func check(_ place: String) throws(ReportFault) {
        try ReportFault.check("\(place).posts", posts, 0...1_000_000_000)
        try ReportFault.check("\(place).upvotes", upvotes, 0...1 << 41)
        try ReportFault.check("\(place).downvotes", downvotes, 0...1 << 41)
    }
}
