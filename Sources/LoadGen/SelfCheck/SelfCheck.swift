import FeedTransport
import Histogram

/// Three runs against a responder whose delays are known, to see whether the generator measures them.
///
/// The responder is in this process, with a thread of its own, behind real sockets. It records when
/// each vote arrived and when its answer left, on the clock that the generator reads.
///
/// 1. **Delays**: an open loop with room for all requests, and delays from a known distribution. The
///    generator's service times have to be the times for which the responder held the votes.
/// 2. **Stall**: an open loop with room for 64 requests, and one second without answers. Most
///    requests of that second leave late, so only times from the intended start show the stall. The
///    generator's response times have to be the instants of the answers less those of the plan.
/// 3. **Speed**: a closed loop against a responder without delays.
package struct SelfCheck {
    private let seed: UInt64
    private let showProgress: (String) -> Void

    /// A check whose delays and arrivals are drawn from `seed`.
    package init(seed: UInt64, showProgress: @escaping (String) -> Void = { _ in }) {
        self.seed = seed
        self.showProgress = showProgress
    }

    /// Makes the three runs; blocks the calling thread for some 15 seconds.
    package func execute() throws(RunFailure) -> SelfCheckResult {
        let (delayed, held) = try run("delays", delaysLoad, delaysPlan)
        let stall = try stall()
        let (fast, _) = try run("speed", speedLoad, ResponderPlan(seed: seed))
        showProgress("")
        return SelfCheckResult(
            seed: seed,
            delays: LatencyComparison(measured: delayed.latencies(.service), truth: held.held),
            stall: stall,
            pacing: delayed.latencies(.slip),
            lateSendCount: delayed.totals.lateSendCount,
            speed: SelfCheckResult.Speed(fast)
        )
    }

    /// Makes the run with the stall alone; blocks for some 5 seconds.
    package func stall() throws(RunFailure) -> LatencyComparison {
        let (result, record) = try run("stall", stallLoad, stallPlan)
        return LatencyComparison(
            measured: result.latencies(.response),
            fromSend: result.latencies(.service),
            truth: Self.responses(stallLoad, result, record.answerInstants)
        )
    }

    /// The response times that the plan of a load and the instants of the answers give.
    ///
    /// The responder answers in the order of the requests, and all of them wait equally long, so
    /// answer number `i` is the one to request number `i` of the plan.
    static func responses(
        _ load: RunConfiguration,
        _ result: RunReport,
        _ answerInstants: [UInt64]
    ) -> LatencyHistogram {
        var plan = ArrivalPlan(
            load.arrival,
            ratePerSecond: load.ratePerSecond ?? 1,
            thread: 0,
            threadCount: 1,
            seed: load.seed
        )
        var responses = LatencyScale.makeHistogram()
        for instant in answerInstants.sorted() {
            let intended = result.startNanoseconds + plan.nextNanoseconds
            responses.record(min(instant - min(intended, instant), LatencyScale.highestNanoseconds))
            plan.advance()
        }
        return responses
    }

    private func run(
        _ name: String,
        _ load: RunConfiguration,
        _ plan: ResponderPlan
    ) throws(RunFailure) -> (RunReport, ResponderRecord) {
        showProgress("self-check: \(name)")
        let responder = try Responder(plan)
        let result: RunReport
        do throws(RunFailure) {
            var load = load
            load.target = "\(responder.address)"
            result = try Run(load).execute()
        } catch {
            _ = responder.stop()
            throw error
        }
        let record = responder.stop()
        guard !result.isInterrupted else { throw .interrupted }
        return (result, record)
    }

    // At the median 27 ms and at 99.9% some 90 ms: 2% of them is more than what a busy machine of
    // two cores takes to wake a thread.
    private var delaysPlan: ResponderPlan {
        ResponderPlan(shortest: .milliseconds(20), mean: .milliseconds(10), seed: seed)
    }

    private var delaysLoad: RunConfiguration {
        var load = base
        load.clientCount = 100
        load.pipelineDepth = 8
        load.ratePerSecond = 2_000
        load.duration = .seconds(6)
        return load
    }

    private var stallPlan: ResponderPlan {
        ResponderPlan(
            shortest: .milliseconds(20),
            stallAfter: .milliseconds(1_500),
            stall: .seconds(1),
            seed: seed
        )
    }

    // Room for 64 votes of 20 ms: 3,200 a second, so the votes of the stall are answered soon.
    private var stallLoad: RunConfiguration {
        var load = base
        load.clientCount = 64
        load.ratePerSecond = 1_000
        load.duration = .seconds(5)
        return load
    }

    private var speedLoad: RunConfiguration {
        var load = base
        load.clientCount = 50
        load.pipelineDepth = 64
        load.warmup = .milliseconds(500)
        load.duration = .seconds(2)
        return load
    }

    private var base: RunConfiguration {
        var load = RunConfiguration(target: "")
        load.feed = ResponderLoop.feed
        load.postCount = 100
        load.seed = seed
        load.timeout = .seconds(10)
        load.isVerified = false
        return load
    }
}

extension RunReport {
    /// The latencies of all operations; empty where nothing was measured.
    fileprivate func latencies(_ measure: Measure) -> LatencyHistogram {
        totals.merged(measure) ?? LatencyScale.makeHistogram()
    }
}
