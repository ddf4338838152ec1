internal import FeedJournal
internal import FeedReplica

/// What a node of a cluster may do; it begins as one that follows, and one that leads never follows again.
package enum NodeState: Equatable, Sendable {
    /// No change is let in. With the address of the leader for clients, if there is one that is known.
    case following(leader: String?)
    /// All records before are applied, and changes may be let in.
    case leading(term: UInt64)
}

/// What a ``ReplicatedJournal`` calls when something happens, on its thread.
///
/// Nothing here may wait: the thread is the node's sign of life.
package struct ReplicaEvents: Sendable {
    /// Makes what applies the leader's records to the state, behind the last one that a start has found.
    ///
    /// Called once, by ``DurableState/start()``, on its thread. It is ended before this node leads.
    package var follow: @Sendable (RecordChain) -> LiveApply = { _ in
        preconditionFailure("Nobody applies the records of the leader.")
    }

    /// The state has changed; at first it is following, without a leader.
    package var role: @Sendable (NodeState) -> Void = { _ in }

    /// This node does not lead any more: nothing that waits may be answered, and the process ends with 75.
    ///
    /// With the address of the new leader for clients, if it is known. Nothing is called after it.
    package var deposed: @Sendable (Deposition, _ leader: String?) -> Void = { _, _ in }

    /// This node does not go on: the process ends with this status.
    ///
    /// Nothing is called after it.
    package var ended: @Sendable (ReplicaEnding) -> Void = { _ in }

    /// This node still led after each read was executed whose round is this one or one before.
    package var proved: @Sendable (_ round: UInt64) -> Void = { _ in }

    /// This node has applied all up to an index, which was all that the leader had committed at a moment
    /// of this machine's clock that runs while it is suspended.
    package var heard: @Sendable (_ index: UInt64, _ microseconds: UInt64) -> Void = { _, _ in }

    /// A state of this record is to take the place of this node's, which is too old for readers.
    ///
    /// The node ends once that has been prepared.
    package var installing: @Sendable (_ record: UInt64) -> Void = { _ in }

    /// The replica has said who belongs to the cluster; once a second.
    package var status: @Sendable (ReplicaStatus) -> Void = { _ in }

    /// A line for the log, once a second at most.
    package var news: @Sendable (ReplicaNews) -> Void = { _ in }

    /// Events that do nothing, to be filled in.
    package init() {}
}

/// Why a node does not lead any more, and what it could not commit.
package struct Deposition: Equatable, Sendable, CustomStringConvertible {
    package enum Cause: Equatable, Sendable {
        /// The replica has said so: the term, and who leads it now, or 0.
        case otherTerm(UInt64, leader: UInt64)
        /// The replica has said so in the term that this node led: a majority was not connected any more.
        case majorityLost(term: UInt64)
        /// The session with the replica has ended, with these words.
        case sessionLost(String)
    }

    package var cause: Cause
    /// The commit batches that were proposed, and whose fate the cluster's log decides.
    package var proposedCount: Int
    /// The bytes that were logged and not proposed: they are gone.
    package var waitingByteCount: Int

    package init(_ cause: Cause, proposedCount: Int, waitingByteCount: Int) {
        self.cause = cause
        self.proposedCount = proposedCount
        self.waitingByteCount = waitingByteCount
    }

    package var description: String {
        let reason =
            switch cause {
            case .otherTerm(let term, leader: 0): "term \(term) has begun, without a leader yet"
            case .otherTerm(let term, let leader):
                "node \(hexadecimal(leader)) leads term \(term)"
            case .majorityLost(let term):
                "no majority is connected to it in term \(term), and no later term is known"
            case .sessionLost(let words): words
            }
        return """
            this node does not lead any more: \(reason); \(proposedCount) commit batches were \
            proposed and not committed, \(waitingByteCount) bytes of changes not proposed, and \
            none of them answered
            """
    }
}

/// Why a node does not go on, in words, and what its process exits with.
package struct ReplicaEnding: Equatable, Sendable {
    /// What a process exits with that is to be started again at once.
    package static let startAgain: Int32 = 75

    package var sentence: String
    package var exitStatus: Int32

    package init(_ sentence: String, exitStatus: Int32 = 1) {
        self.sentence = sentence
        self.exitStatus = exitStatus
    }

    /// What the end of a session is for a node that does not lead; nil if it connects again.
    init?(_ reason: EndReason, _ words: String) {
        switch reason {
        case .replaced, .tooSlow, .stopping: return nil
        case .badFrame, .otherVersion: self.init("\(words).")
        case .otherCluster: self.init("\(words).", exitStatus: 2)
        }
    }
}

/// What there is to say of the session with the replica.
package enum ReplicaNews: Equatable, Sendable {
    /// The session has begun; with the node's number and the records that are committed.
    case connected(node: UInt64, committed: UInt64)
    /// There is no session, and it is tried again.
    case disconnected(String)
    /// The replica has refused what this node asked for beside commit batches, with these words.
    case refused(String)
    /// This node leads, and its clock is further behind the last record than a clock is corrected.
    case clockIsBehind(microseconds: UInt64)
    /// The replica sends a copy of the state, as of this record, to another node.
    case givesCopy(UInt64)
    /// It gets none, or has to end one, with these words.
    case givesNoCopy(String)
}

extension ReplicaNews {
    init?(of word: ServiceWord) {
        switch word {
        case .copy(_, let index, _): self = .givesCopy(index)
        case .noCopy(_, let why): self = .givesNoCopy(why)
        default: return nil
        }
    }
}

extension StateMeta {
    /// The 16 bytes by which replicas know the cluster, in two halves: the instance, which all its machines
    /// share, and zeros.
    package var cluster: (high: UInt64, low: UInt64) { (instanceID, 0) }
}
