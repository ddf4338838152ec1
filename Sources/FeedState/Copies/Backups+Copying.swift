internal import FeedConcurrency
internal import Foundation

/// What the thread of a copy does.
extension Backups {
    /// Makes the backup, and answers.
    func make(_ job: BackupJob, _ ready: () -> Void) {
        defer { heartBeat.end() }
        do throws(BackupError) {
            heartBeat.beat()
            try job.open()
            report(.began(name: job.name, byteCount: job.byteCount))
            while isReading {
                heartBeat.beat()
                hooks.beforeCopyStep()
                let began = ContinuousClock.now
                let isWhole = try job.step()
                heartBeat.end()
                state.withLock { $0.copiedByteCount = job.copiedByteCount }
                if isWhole { break }
                rest(since: began)
            }
            guard state.withLock({ $0.phase.beginVerifying() }) else { return drop(job) }
            heartBeat.end()
            // The file may change while the copy is checked.
            ready()
            hooks.beforeVerification(job.name)
            try verify(job)
            guard state.withLock({ $0.phase.beginFinishing() }) else { return drop(job) }
            heartBeat.beat()
            let (summary, removed) = try job.finish()
            heartBeat.end()
            end(summary, removed)
        } catch {
            heartBeat.beat()
            job.abandon()
            fail(error)
        }
    }

    /// Removes what was copied for a request that was cancelled, and has its answer.
    private func drop(_ job: BackupJob) {
        heartBeat.beat()
        job.abandon()
        _ = state.withLock { $0.phase.end() }
    }

    /// Checks the copy, and rests for as long as each piece took.
    private func verify(_ job: BackupJob) throws(BackupError) {
        var began = ContinuousClock.now
        try job.verify {
            _ = cancelled.wait(upTo: began.duration(to: .now))
            began = .now
            return state.withLock { $0.phase.isVerifying }
        }
    }

    /// Rests as long as the step took, and so long that the copy keeps to its rate: others get at
    /// least half of the disk's time.
    private func rest(since began: ContinuousClock.Instant) {
        let took = began.duration(to: .now)
        let share = Duration.seconds(1) * options.stepByteCount / options.byteRate
        let rest = max(took, share - took)
        _ = cancelled.wait(upTo: rest)
    }

    private func end(_ summary: BackupSummary, _ removed: [String]) {
        let (date, now) = (options.timeOfDay(), options.uptime())
        let (request, took) = state.withLock { state in
            let request = state.phase.complete()
            let took = Duration.seconds(now - request.began)
            if request.kind == .scheduled { state.schedule?.succeeded(began: request.began) }
            let complete = BackupStatus.Complete(
                name: summary.name,
                date: date,
                byteCount: summary.byteCount,
                duration: took
            )
            state.complete = (complete, now)
            state.failure = nil
            return (request, took)
        }
        report(.done(summary, took: took, removed: removed))
        request.answer(.success(summary))
    }

    /// Ends the backup with an error, unless it was cancelled and has its answer.
    func fail(_ error: BackupError) {
        let request = state.withLock { state in
            let request = state.phase.end()
            if let request { state.noteFailure(error, of: request, options) }
            return request
        }
        guard let request else { return }
        report(.failed(error))
        request.answer(.failure(error))
    }
}
