internal import FeedClientTransport

/// Runs tasks on the thread of a client's loop.
///
/// Tasks that the loop resumes need no other thread, and the calls that they make next need no wake-up
/// of the loop. Once the loop has ended, Swift's global executor runs what comes.
final class LoopExecutor: TaskExecutor {
    private let mailbox: Transport.Mailbox
    private let inbox = Inbox<UnownedJob>()

    init(_ mailbox: Transport.Mailbox) { self.mailbox = mailbox }

    func enqueue(_ job: consuming ExecutorJob) {
        guard inbox.append(UnownedJob(job)) else { return }
        guard !mailbox.post({ _ in self.run() }) else { return }
        for job in take() { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
    }

    /// Runs the jobs that have come so far; those that come meanwhile wait for the next iteration.
    private func run() {
        for job in take() { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func take() -> [UnownedJob] {
        var jobs: [UnownedJob] = []
        inbox.take(into: &jobs)
        return jobs
    }
}
