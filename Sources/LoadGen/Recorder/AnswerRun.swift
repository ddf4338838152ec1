/// Answers to votes that came in one read, counted and timed together where their requests left at
/// the same time.
///
/// In a closed loop the requests of a write have the same times, and most answers of a read are
/// to one write. So most reads count once and add to a histogram once.
package struct AnswerRun {
    private let answered: UInt64
    private var intended: UInt64 = 0
    private var sent: UInt64 = 0
    private var count: UInt64 = 0
    private var recordedCount: UInt64 = 0

    /// No answer of a read at an instant.
    package init(answered: UInt64) {
        self.answered = answered
    }

    /// All answers that were added.
    package var answerCount: UInt64 { recordedCount + count }

    /// Adds the answer to a request; records the answers before it where its times are others.
    @inline(__always)
    package mutating func add(
        intended: UInt64,
        sent: UInt64,
        to recorder: Recorder,
        _ phases: Phases
    ) {
        if sent != self.sent || intended != self.intended {
            end(recorder, phases)
            self.intended = intended
            self.sent = sent
        }
        count &+= 1
    }

    /// Records the answers that were added last.
    @inline(__always)
    package mutating func end(_ recorder: Recorder, _ phases: Phases) {
        record(recorder, phases)
        recordedCount &+= count
        count = 0
    }

    // Not mutating: a run that a call can change is kept in memory, and each answer would be a store.
    @inline(never)
    private func record(_ recorder: Recorder, _ phases: Phases) {
        guard count > 0 else { return }
        recorder.recordAnswers(
            .vote,
            requestCount: count,
            intended: intended,
            sent: sent,
            answered: answered,
            phases: phases
        )
    }
}
