internal import FeedConcurrency
internal import Foundation

/// What the thread of a copy does.
extension Backups {
    /// Makes the backup, and answers.
    func make(_ job: BackupJob, _ ready: () -> Void) {
        do throws(BackupError) {
            try job.open()
            report(.began(name: job.name, byteCount: job.byteCount))
            while isReading {
                beforeStep()
                let began = ContinuousClock.now
                let isWhole = try job.step()
                state.withLock { $0.copiedByteCount = job.copiedByteCount }
                if isWhole { break }
                rest(since: began)
            }
            guard state.withLock({ $0.phase.beginFinishing() }) else {
                job.abandon()
                // `cancel` has answered the request.
                _ = state.withLock { $0.phase.end() }
                return
            }
            // The file may change while the copy gets its name.
            ready()
            let (summary, removed) = try job.finish()
            end(summary, removed)
        } catch {
            job.abandon()
            fail(error)
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
        let (request, took) = state.withLock { state in
            let request = state.phase.complete()
            let took = request.began.duration(to: .now)
            state.complete = BackupStatus.Complete(
                name: summary.name,
                date: .timeOfDay,
                byteCount: summary.byteCount,
                duration: took
            )
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
            if request != nil {
                state.failure = BackupStatus.Failed(error: error, date: .timeOfDay)
            }
            return request
        }
        guard let request else { return }
        report(.failed(error))
        request.answer(.failure(error))
    }
}
