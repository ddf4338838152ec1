import Histogram

/// The whole result for programs, schema 1; docs/LOADGEN.md says what each member means.
package struct JSONReport {
    private let result: RunResult

    /// A report of `result`.
    package init(_ result: RunResult) {
        self.result = result
    }

    /// The text, always valid JSON, with a newline at its end.
    package func rendered() -> String { value.rendered() + "\n" }

    private var value: JSONValue {
        .object([
            ("schema", .integer(1)),
            ("config", configuration),
            ("env", environment),
            ("dataset", DatasetJSON.value(result.dataset)),
            ("measured_seconds", .number(result.measuredSeconds)),
            ("per_second", .number(result.ratePerSecond)),
            ("requests_per_second", .number(result.requestsPerSecond)),
            ("interrupted", .bool(result.isInterrupted)),
            ("intervals", .array(result.intervals.map(interval))),
            ("ops", operations),
            ("outcomes", outcomes),
            ("errors", errors),
            ("connections", connections),
            ("cpu", processors),
            ("audit", AuditJSON.value(result.audit)),
            ("record", RunRecordJSON.value(result.record)),
            ("verdict", verdict),
            ("slo", .array(result.serviceLevels.map(serviceLevel))),
            ("exit", .integer(Int64(result.exitStatus.rawValue))),
        ])
    }

    private var configuration: JSONValue {
        let given = result.configuration
        return .object([
            ("target", .string(given.target)),
            ("clients", .integer(Int64(given.clientCount))),
            ("threads", .integer(Int64(given.threadCount))),
            ("pipeline", .integer(Int64(given.pipelineDepth))),
            ("batch", .integer(Int64(given.batchVoteCount))),
            ("pipeline_mode", .string(given.pipelineMode.rawValue)),
            ("loop", .string(given.isOpenLoop ? "open" : "closed")),
            ("rate", given.ratePerSecond.map(JSONValue.number) ?? .null),
            ("arrival", .string(given.arrival.rawValue)),
            ("duration_seconds", given.duration.map(seconds) ?? .null),
            ("requests", given.requestCount.map(JSONValue.count) ?? .null),
            ("warmup_seconds", seconds(given.warmup)),
            ("mix", .string(given.mix.description)),
            ("posts", .integer(Int64(given.postCount))),
            ("feed", .string(given.feed)),
            ("keys", .string(given.keys.description)),
            ("hottest_post_share", .number(result.hottestShare)),
            ("page_size", .integer(Int64(given.pageSize))),
            ("seed", .count(given.seed)),
            ("timeout_seconds", seconds(given.timeout)),
            ("retry", .integer(Int64(given.retryLimit))),
            ("verify", .bool(given.isVerified)),
        ])
    }

    private var environment: JSONValue {
        .object([
            ("processor", .string(result.environment.processor)),
            ("cores", .integer(Int64(result.environment.coreCount))),
            ("kernel", .string(result.environment.kernel)),
            ("command", .string(result.environment.command)),
            ("start_time", .string(result.environment.startTime)),
            ("debug_build", .bool(Environment.isDebugBuild)),
        ])
    }

    private func interval(_ interval: RunResult.Interval) -> JSONValue {
        let histogram = interval.counts.latencies
        var members: [(String, JSONValue)] = [
            ("end_seconds", .number(interval.endSeconds)),
            ("seconds", .number(interval.seconds)),
            ("measured", .bool(interval.isMeasured)),
        ]
        for operation in result.configuration.mix.operations {
            let count = interval.counts.answered[Int(operation.rawValue)]
            members.append((operation.name, .count(count)))
        }
        members.append(("failed_so_far", .count(interval.counts.errorCount)))
        members.append(("response_ms", .object(LatencyJSON.percentiles(histogram, [50, 99]))))
        return .object(members)
    }

    private var operations: JSONValue {
        .object(
            result.configuration.mix.operations.map { operation in
                let count = result.totals.measuredAnswers[Int(operation.rawValue)]
                var members: [(String, JSONValue)] = [
                    ("count", .count(count)),
                    ("per_second", .number(result.rate(count))),
                ]
                for measure in Measure.allCases {
                    let key = LatencyKey(operation, measure)
                    guard let histogram = result.totals.latencies[key] else { continue }
                    let value = LatencyJSON.value(histogram, result.configuration.percentiles)
                    members.append((LatencyJSON.name(measure), value))
                    // A closed loop measures one latency, which stands for both.
                    if !result.configuration.isOpenLoop {
                        members.append((LatencyJSON.name(.response), value))
                    }
                }
                return (operation.name, .object(members))
            }
        )
    }

    private var outcomes: JSONValue {
        let outcomes = result.totals.outcomes
        return .object([
            ("sent", .count(outcomes.sent)),
            ("ok", .count(outcomes.ok)),
            ("error", .count(outcomes.error)),
            ("timeout", .count(outcomes.timeout)),
            ("lost", .count(outcomes.lost)),
            ("late_answers", .count(result.totals.lateAnswerCount)),
            ("late_sends", .count(result.totals.lateSendCount)),
            ("unsent", .count(result.totals.unsentCount)),
            ("retries", .count(result.totals.retries.retryCount)),
            ("reconnects", .count(result.totals.retries.reconnectCount)),
            ("duplicates", .count(result.totals.retries.duplicateCount)),
            ("conserved", .bool(outcomes.isConserved)),
        ])
    }

    private var errors: JSONValue {
        let failures = result.totals.failures
        let causes = failures.causes.sorted { $0.key.rawValue < $1.key.rawValue }
        let answers = failures.serverErrors.sorted { $0.key < $1.key }
        return .object([
            ("total", .count(result.totals.outcomes.error + result.totals.outcomes.unknown)),
            ("causes", .object(causes.map { ($0.key.rawValue, .count($0.value)) })),
            ("server", .object(answers.map { ($0.key, .count($0.value)) })),
            ("first_protocol_error", failures.firstProtocolError.map(JSONValue.string) ?? .null),
        ])
    }

    private var connections: JSONValue {
        let traffic = result.totals.traffic
        return .object([
            ("opened", .integer(Int64(result.openedConnectionCount))),
            ("lost", .integer(Int64(result.lostConnectionCount))),
            ("reads", .count(traffic.readCount)),
            ("writes", .count(traffic.writeCount)),
            ("bytes_in", .count(traffic.bytesIn)),
            ("bytes_out", .count(traffic.bytesOut)),
        ])
    }

    private var processors: JSONValue {
        let machine = result.machine
        return .object([
            ("server_pid", result.serverPID.map { .integer(Int64($0)) } ?? .null),
            ("server_seconds_per_million", number(result.secondsPerMillion(result.server))),
            ("generator_seconds_per_million", number(result.secondsPerMillion(result.generator))),
            ("server", usage(result.server)),
            ("generator", usage(result.generator)),
            ("loop_idle_shares", .array(result.loopIdleShares.map(JSONValue.number))),
            ("steal_share", number(machine?.stealShare)),
            ("other_share", result.server == nil ? .null : .number(result.otherShare)),
            ("little_in_flight", number(result.littleInFlight)),
        ])
    }

    private func usage(_ usage: ProcessUsage?) -> JSONValue {
        guard let usage else { return .null }
        return .object([
            ("seconds", .number(usage.seconds)),
            ("user_share", .number(usage.userShare)),
            ("busiest_thread_share", .number(usage.busiestThreadShare)),
            ("wait_share", .number(usage.waitShare)),
            ("resident_bytes", .count(usage.residentByteCount)),
        ])
    }

    private var verdict: JSONValue {
        let verdict = result.verdict
        return .object([
            ("valid", .bool(verdict.isValid)),
            ("figures", .string(verdict.figures.rawValue)),
            ("bound", .string(verdict.bound.rawValue)),
            ("contended", .bool(verdict.isContended)),
            ("drift", number(result.drift)),
            ("shared_cores", result.crowdedCoreCount.map { .integer(Int64($0)) } ?? .null),
            ("summary", verdict.summary.map(JSONValue.string) ?? .null),
            ("reasons", .array(verdict.reasons.map(JSONValue.string))),
        ])
    }

    private func serviceLevel(_ kept: ServiceLevelResult) -> JSONValue {
        .object([
            ("text", .string(kept.level.text)),
            ("value", number(kept.value)),
            ("kept", .bool(kept.isKept)),
        ])
    }

    private func seconds(_ duration: Duration) -> JSONValue {
        .number(Double(duration.nanoseconds) / 1e9)
    }

    private func number(_ value: Double?) -> JSONValue { value.map(JSONValue.number) ?? .null }
}
