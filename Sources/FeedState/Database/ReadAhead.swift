package import FeedConcurrency

/// Lets a start use two cores: a thread of its own reads batches, the calling thread applies them.
///
/// The thread is at most ``limit`` batches ahead, so memory is bounded. It has ended, and has let go
/// of all that it used, when ``run(_:reading:applying:)`` returns or throws.
package final class ReadAhead<Batch: Sendable, Failure: Error>: Sendable {
    /// Reads, and calls ``send(_:)`` with each batch.
    package typealias Reading = (ReadAhead) throws(Failure) -> Void

    package static var limit: Int { 4 }

    private struct Queue: Sendable {
        var batches: [Batch] = []
        /// Batches that were applied.
        ///
        /// The thread that made them frees them: the allocator has a lock for each thread's memory,
        /// and two threads would wait for it at each text.
        var applied: [Batch] = []
        var failure: Failure?
        var isStopped = false
    }

    private let state = Lock(Queue())
    /// One for each batch that may be sent.
    private let room = Semaphore(count: ReadAhead.limit)
    /// One for each batch that waits, and one for the end.
    private let filled = Semaphore()

    private init() {}

    /// Calls `reading` on a thread, and here `applying` with each batch that it sends, in order.
    ///
    /// - Throws: What `refused` makes of the system's refusal to start the thread. What `applying`
    ///   throws, which ends the thread. Otherwise what `reading` throws, after all batches that it
    ///   sent before were applied: as if one thread did both.
    package static func run(
        _ threadName: String,
        refused: (ThreadStartError) -> Failure,
        reading: @escaping Reading,
        applying: (Batch) throws(Failure) -> Void
    ) throws(Failure) {
        let ahead = ReadAhead()
        let transferred = Transferred(reading)
        let thread = NamedThread(threadName)
        do throws(ThreadStartError) {
            try thread.start { ahead.read(transferred.value) }
        } catch {
            throw refused(error)
        }
        defer { thread.join() }
        var result: Result<Void, Failure> = .success(())
        while let batch = ahead.next() {
            guard case .success = result else { continue }
            do throws(Failure) {
                try applying(batch)
                ahead.state.withLock { $0.applied.append(batch) }
            } catch {
                result = .failure(error)
                ahead.stop()
            }
        }
        try result.get()
        if let failure = ahead.state.withLock({ $0.failure }) { throw failure }
    }

    /// Hands a batch to the thread that applies; waits where ``limit`` batches wait; false where no more are
    /// wanted.
    package func send(_ batch: Batch) -> Bool {
        room.wait()
        var applied: [Batch] = []
        let isSent = state.withLock { state in
            swap(&state.applied, &applied)
            if !state.isStopped { state.batches.append(batch) }
            return !state.isStopped
        }
        // Where no more are wanted, later calls must not wait either.
        if isSent { filled.signal() } else { room.signal() }
        return isSent
    }

    private func read(_ reading: Reading) {
        do throws(Failure) {
            try reading(self)
        } catch {
            state.withLock { $0.failure = error }
        }
        filled.signal()
    }

    private func next() -> Batch? {
        filled.wait()
        let batch = state.withLock { $0.batches.isEmpty ? nil : $0.batches.removeFirst() }
        if batch != nil { room.signal() }
        return batch
    }

    private func stop() {
        state.withLock { $0.isStopped = true }
        room.signal()
    }
}
