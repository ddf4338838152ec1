/// The processors in the JSON report.
struct ProcessorJSON: Encodable {
    let serverPID: OrNull<Int>
    let serverSecondsPerMillion: OrNull<Double>
    let generatorSecondsPerMillion: OrNull<Double>
    let server: OrNull<Usage>
    let generator: OrNull<Usage>
    let loopIdleShares: [OrNull<Double>]
    let loopLateP99Ms: OrNull<Double>
    let busyShare: OrNull<Double>
    let stealShare: OrNull<Double>
    let otherShare: OrNull<Double>
    let littleInFlight: OrNull<Double>

    init(_ result: RunResult) {
        serverPID = OrNull(result.serverPID)
        serverSecondsPerMillion = OrNull(finite: result.secondsPerMillion(result.server))
        generatorSecondsPerMillion = OrNull(finite: result.secondsPerMillion(result.generator))
        server = OrNull(result.server.map(Usage.init))
        generator = OrNull(result.generator.map(Usage.init))
        loopIdleShares = result.loopIdleShares.map { OrNull(finite: $0) }
        loopLateP99Ms = OrNull(finite: result.totals.loopLate99.map { $0 / 1e6 })
        busyShare = OrNull(finite: result.machine?.busyShare)
        stealShare = OrNull(finite: result.machine?.stealShare)
        otherShare = OrNull(finite: result.server.map { _ in result.otherShare })
        littleInFlight = OrNull(finite: result.littleInFlight)
    }

    /// One process.
    struct Usage: Encodable {
        let seconds: OrNull<Double>
        let userShare: OrNull<Double>
        let busiestThreadShare: OrNull<Double>
        let waitShare: OrNull<Double>
        let residentBytes: UInt64
        let cores: [Int]

        init(_ usage: ProcessUsage) {
            seconds = OrNull(finite: usage.seconds)
            userShare = OrNull(finite: usage.userShare)
            busiestThreadShare = OrNull(finite: usage.busiestThreadShare)
            waitShare = OrNull(finite: usage.waitShare)
            residentBytes = usage.residentByteCount
            cores = usage.cores.sorted()
        }
    }
}

/// The verdict in the JSON report.
struct VerdictJSON: Encodable {
    let valid: Bool
    let figures: String
    let bound: String
    let contended: Bool
    let drift: OrNull<Double>
    let sharedCores: OrNull<Int>
    let summary: OrNull<String>
    let reasons: [String]

    init(_ result: RunResult) {
        let verdict = result.verdict
        valid = verdict.isValid
        figures = verdict.figures.rawValue
        bound = verdict.bound.rawValue
        contended = verdict.isContended
        drift = OrNull(finite: result.drift)
        sharedCores = OrNull(result.crowdedCoreCount)
        summary = OrNull(verdict.summary)
        reasons = verdict.reasons
    }
}
