import FeedTransport

extension Run {
    /// Takes the report of a thread.
    func receive(_ event: WorkerEvent) {
        switch event {
        case .connected(let openedCount, let failures):
            result.openedConnectionCount += openedCount
            reports.connected(failures)
            if reports.areConnected { beginLoad() }
        case .interval(let number, let end, let counts):
            if let interval = reports.add(number, end, counts) { close(interval) }
        case .finished(let worker):
            receive(worker)
        }
    }

    private func beginLoad() {
        guard result.openedConnectionCount > 0 else {
            let causes = reports.connectFailures.causes
            let cause = causes.max { $0.value < $1.value }?.key.rawValue ?? "other"
            return fail(.noConnection(target: configuration.target, cause: cause))
        }
        // Every thread needs a moment to get the message before the first request is due.
        let start = EventLoop.clock.advanced(by: .milliseconds(5)).nanoseconds
        let phases = Phases(
            start: start,
            warmup: configuration.warmup,
            duration: configuration.duration
        )
        self.phases = phases
        threads.begin(phases)
        at(phases.measureFromNanoseconds) { [unowned self] in probe.startMeasuring() }
        if phases.measureUntilNanoseconds < .max {
            at(phases.measureUntilNanoseconds) { [unowned self] in probe.stopMeasuring() }
        }
    }

    private func at(_ instant: UInt64, _ body: @escaping () -> Void) {
        let now = EventLoop.clock.nanoseconds
        let delay = Duration.nanoseconds(Int64(instant > now ? instant - now : 0))
        do throws(TransportError) {
            try loop.addTimer(after: delay, body)
        } catch {
            fail(.system(error.description))
        }
    }

    private func close(_ reported: ThreadReports.ReportedInterval) {
        guard let phases else { return }
        let end = reported.endNanoseconds
        let elapsed = Double(end - min(end, phases.startNanoseconds)) / 1e9
        let interval = RunResult.Interval(
            endSeconds: elapsed,
            seconds: elapsed - (result.intervals.last?.endSeconds ?? 0),
            isMeasured: phases.isMeasuredInterval(reported.number),
            counts: reported.counts
        )
        result.intervals.append(interval)
        if let line = progress.line(for: interval, configuration, probe) { showProgress(line) }
    }

    private func receive(_ worker: WorkerResult) {
        reports.finished(worker)
        result.totals.add(worker.totals)
        result.lostConnectionCount += worker.lostConnectionCount
        if let idle = worker.loopIdleShare { result.loopIdleShares.append(idle) }
        knowledge.add(worker.tallies, worker.counts)
        guard reports.areFinished, let phases else { return }
        for interval in reports.takeIncomplete() { close(interval) }
        probe.stopMeasuring()
        let (from, end) = (phases.measureFromNanoseconds, reports.endNanoseconds)
        result.measuredSeconds = Double(end - min(end, from)) / 1e9
        result.generator = probe.generator
        result.server = probe.server
        result.machine = probe.machine
        audit()
    }
}
