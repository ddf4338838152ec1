import FeedTransport

extension Run {
    /// Takes the report of a thread.
    func receive(_ event: WorkerEvent) {
        switch event {
        case .connected(let openedCount, let failures):
            result.openedConnectionCount += openedCount
            connectedThreadCount += 1
            connectFailures.add(failures)
            if connectedThreadCount == configuration.threadCount { beginLoad() }
        case .interval(let number, let end, let counts):
            receive(number, end, counts)
        case .finished(let worker):
            receive(worker)
        }
    }

    private func beginLoad() {
        guard result.openedConnectionCount > 0 else {
            let cause = connectFailures.causes.max { $0.value < $1.value }?.key.rawValue ?? "other"
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
        for worker in workers { worker.post { $0.begin(phases) } }
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

    private func receive(_ number: Int, _ end: UInt64, _ counts: IntervalCounts) {
        if var open = openIntervals[number] {
            open.counts.add(counts)
            open.count += 1
            open.end = max(open.end, end)
            openIntervals[number] = open
        } else {
            openIntervals[number] = (1, end, counts)
        }
        if openIntervals[number]?.count == configuration.threadCount { closeInterval(number) }
    }

    private func closeInterval(_ number: Int) {
        guard let open = openIntervals.removeValue(forKey: number), let phases else { return }
        let elapsed = Double(open.end - min(open.end, phases.startNanoseconds)) / 1e9
        let interval = RunResult.Interval(
            endSeconds: elapsed,
            seconds: elapsed - (result.intervals.last?.endSeconds ?? 0),
            isMeasured: phases.isMeasuredInterval(number),
            counts: open.counts
        )
        result.intervals.append(interval)
        if let line = progress.line(for: interval, configuration, probe) { showProgress(line) }
    }

    private func receive(_ worker: WorkerResult) {
        finishedThreadCount += 1
        result.totals.add(worker.totals)
        result.lostConnectionCount += worker.lostConnectionCount
        if let idle = worker.loopIdleShare { result.loopIdleShares.append(idle) }
        endNanoseconds = max(endNanoseconds, worker.endNanoseconds)
        knowledge.add(worker.tallies, worker.counts)
        guard finishedThreadCount == configuration.threadCount, let phases else { return }
        // Intervals that began after some threads had ended.
        for number in openIntervals.keys.sorted() { closeInterval(number) }
        probe.stopMeasuring()
        let from = phases.measureFromNanoseconds
        result.measuredSeconds = Double(endNanoseconds - min(endNanoseconds, from)) / 1e9
        result.generator = probe.generator
        result.server = probe.server
        result.machine = probe.machine
        audit()
    }
}
