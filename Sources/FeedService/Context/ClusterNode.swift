internal import FeedConcurrency
internal import FeedState
internal import Synchronization

/// What the service is in its cluster, and what it knows of the others.
///
/// It follows until it leads, and what led ends with its process. What each vote asks is in ``Stalls``.
final class ClusterNode: Sendable {
    private struct Knowledge {
        var state = NodeState.following(leader: nil)
        var hasFollowed = false
        var isDeposed = false
        var status: ReplicaStatus?
    }

    /// Where clients reach this service.
    let address: String
    /// The age at which the state of a follower is too old for reads.
    let maximumStaleness: Duration
    /// Whether the directory has no state, and waits for that of the cluster: nothing is answered.
    let isWaiting: Bool
    private let stalls: Stalls
    private let knowledge = Lock(Knowledge())
    /// When all that the leader had committed was applied here, in nanoseconds of the clock that runs while
    /// the machine is suspended; 0 is never.
    private let heardAt = Atomic<UInt64>(0)
    private let heard = Atomic<UInt64>(0)
    /// The record of the state that takes the place of this one; 0 if none does.
    private let installing = Atomic<UInt64>(0)

    init(
        _ options: ReplicaOptions,
        maximumStaleness: Duration,
        isWaiting: Bool = false,
        _ stalls: Stalls
    ) {
        address = options.address
        self.maximumStaleness = maximumStaleness
        self.isWaiting = isWaiting
        self.stalls = stalls
    }

    var state: NodeState { knowledge.withLock { $0.state } }

    var status: ReplicaStatus? { knowledge.withLock { $0.status } }

    var isLeading: Bool { !stalls.isFollowing }

    /// The cluster's term; 0 if none is known.
    var term: UInt64 {
        knowledge.withLock { known in
            if case .leading(let term) = known.state { term } else { known.status?.term ?? 0 }
        }
    }

    /// The address of the leader, this service's own if it leads; nil if none is known.
    var leader: String? {
        knowledge.withLock { known in
            switch known.state {
            case .leading: address
            case .following(let leader): leader
            }
        }
    }

    /// Whether some node leads, as far as this service knows.
    var hasLeader: Bool { isLeading || status.map { $0.leader != 0 } ?? false }

    /// The newest record that was committed and applied here, as far as the node has heard.
    var heardIndex: UInt64 { heard.load(ordering: .relaxed) }

    /// The age of what a follower shows; nil if it has heard nothing yet.
    var heardAge: Duration? {
        let instant = heardAt.load(ordering: .relaxed)
        guard instant > 0 else { return nil }
        return .nanoseconds(Int64(bitPattern: SystemClock.bootNanoseconds() &- instant))
    }

    /// Whether a follower's state is too old for reads.
    var isStale: Bool { heardAge.map { $0 > maximumStaleness } ?? true }

    /// Why reads of a follower are refused, in a few words; nil if they are not.
    var staleness: String? {
        let record = installing.load(ordering: .relaxed)
        if record > 0 { return "takes the state of the cluster at record \(record)" }
        if isWaiting { return "waits for the state of the cluster" }
        guard let age = heardAge else { return "has heard nothing of its leader" }
        guard age > maximumStaleness else { return nil }
        return "has not heard of its leader for \(age.millisecondsRoundedDown) ms"
    }
}

/// What the dashboard shows.
extension ClusterNode {
    /// The role, and who belongs to the cluster, in a few words each; with the newest record that the service
    /// has.
    func facts(record: UInt64) -> [String] {
        let (state, status) = knowledge.withLock { ($0.state, $0.status) }
        guard !isWaiting else { return ["without a state"] }
        var facts: [String] = []
        switch state {
        case .leading(let term): facts.append("leads term \(term)")
        case .following(let leader):
            facts.append("follows \(leader ?? "nobody")")
            facts.append("term \(status?.term ?? 0)")
            facts.append(
                heardAge.map { "heard \($0.millisecondsRoundedDown) ms ago" } ?? "heard nothing"
            )
        }
        facts.append("record \(record)")
        guard let status else { return facts }
        let members = status.members.map { Self.words($0, isLeader: $0.node == status.leader) }
        return facts + ["members: \(members.joined(separator: ", "))"]
    }

    private static func words(_ member: ReplicaStatus.Member, isLeader: Bool) -> String {
        let notes = [
            isLeader ? "leads" : nil, member.isVoter ? nil : "learns",
            member.isConnected ? nil : "not connected",
        ].compactMap { $0 }
        var words = member.name
        if !member.address.isEmpty { words += " \(member.address)" }
        if !notes.isEmpty { words += " (\(notes.joined(separator: ", ")))" }
        return words
    }
}

/// What the state's thread tells.
extension ClusterNode {
    /// The service follows a leader that is known, or none; true if that is news.
    func follow(_ leader: String?) -> Bool {
        knowledge.withLock { known in
            let state = NodeState.following(leader: leader)
            guard known.state != state || !known.hasFollowed else { return false }
            known.state = state
            known.hasFollowed = true
            return true
        }
    }

    /// The service leads: changes are let in; false if it does not any more.
    func lead(inTerm term: UInt64) -> Bool {
        knowledge.withLock { known in
            guard !known.isDeposed else { return false }
            known.state = .leading(term: term)
            stalls.setFollowing(false)
            return true
        }
    }

    /// The service does not lead any more: another one does, if its address is known.
    func depose(_ leader: String?) {
        knowledge.withLock { known in
            known.isDeposed = true
            known.state = .following(leader: leader)
            stalls.setFollowing(true)
        }
    }

    func note(_ status: ReplicaStatus) { knowledge.withLock { $0.status = status } }

    /// A state of another node takes the place of this one, which is too old for reads from here on.
    func install(_ record: UInt64) {
        installing.store(record, ordering: .relaxed)
        heardAt.store(0, ordering: .relaxed)
    }

    /// All up to a record is applied, which was all at a moment of the clock.
    func hear(_ index: UInt64, atMicroseconds microseconds: UInt64) {
        guard installing.load(ordering: .relaxed) == 0 else { return }
        heard.store(index, ordering: .relaxed)
        let (nanoseconds, overflows) = microseconds.multipliedReportingOverflow(by: 1_000)
        heardAt.store(overflows ? 0 : nanoseconds, ordering: .relaxed)
    }
}
