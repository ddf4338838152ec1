internal import FeedReplica

/// What an operator asks of a node of a cluster.
package enum ClusterAsk: Equatable, Sendable {
    /// What the replica knows of the cluster; any node has it.
    case status
    /// A node with this name is to belong to the cluster, where the others reach it by this URL.
    case add(name: String, url: String)
    case remove(node: UInt64)
    /// Another node is to lead: this one, or with 0 any that votes.
    case transfer(node: UInt64)

    /// The longest name and URL, which go together.
    package static let maximumTextByteCount = ReplicaLimits.textByteCount / 2 - 1
}

package enum ClusterAnswer: Equatable, Sendable {
    case status(ReplicaStatus)
    /// The node belongs to the cluster, and joins with this token.
    case added(node: UInt64, token: String)
    /// The node was removed, or the leadership is on its way.
    case done
}

/// Why an ask was not done.
package enum ClusterRefusal: Error, Equatable, Sendable {
    /// The service has no replica.
    case noCluster
    /// With the address of the leader for clients, if it is known.
    case notLeader(leader: String?)
    /// The replica refuses it, with these words.
    case refused(String)
    /// So many changes of the members wait already.
    case tooMany(limit: Int)
    /// There is no answer, with the cause; nothing was asked of the cluster.
    case unavailable(String)
    /// There is no answer, with the cause; what was asked for may happen all the same.
    case inDoubt(String)
}

/// An ask of which nobody has heard yet, or that waits for its answer.
struct PendingAsk: Sendable {
    typealias Answer = @Sendable (Result<ClusterAnswer, ClusterRefusal>) -> Void

    let ask: ClusterAsk
    let answer: Answer
    let deadline: ContinuousClock.Instant
    private let wait: Duration

    init(_ ask: ClusterAsk, within wait: Duration, _ answer: @escaping Answer) {
        self.ask = ask
        self.wait = wait
        self.answer = answer
        deadline = .now + wait
    }

    /// Why there is no answer in time.
    var silence: String { "the replica has not answered within \(wait)" }

    func refuse(_ refusal: ClusterRefusal) { answer(.failure(refusal)) }
}

/// What was asked of a node by any thread, until the node takes it.
struct AskInbox: Sendable {
    private var asks: [PendingAsk] = []
    private var isClosed = false

    /// Puts an ask in; false if the node has ended.
    mutating func put(_ ask: PendingAsk) -> Bool {
        if !isClosed { asks.append(ask) }
        return !isClosed
    }

    mutating func take() -> [PendingAsk] {
        guard !asks.isEmpty else { return [] }
        defer { asks = [] }
        return asks
    }

    mutating func close() { isClosed = true }
}

/// The changes of the members that wait or are on their way, and what else operators wait for.
///
/// One change is made at a time, when nothing else is on its way. The commit batches leave out its index.
/// The change ends when the record of that index comes, or is refused. An operator who adds a node waits for
/// ADDED too. ADDED comes before that record or behind it.
struct MemberChanges {
    /// The changes that wait at most.
    static let maximumCount = 16
    /// The statuses that are asked for at most.
    static let maximumStatusCount = 64
    private static let unreadable =
        "the replica has sent a status that this version cannot read"

    struct Change {
        let kind: MemberChange
        let node: UInt64
        var text = ""
        /// Who asked for it; nil for what the replica wants, and once the asker was answered.
        var asker: PendingAsk?

        fileprivate func isSame(as other: Change) -> Bool {
            kind == other.kind && node == other.node && text == other.text
        }
    }

    /// A change, and the index that was left out for it.
    struct Begun {
        fileprivate(set) var change: Change
        let index: UInt64
        var isSaid = false
    }

    /// A TRANSFER.
    ///
    /// STATUS is said behind each: if STATUS_IS comes without a refusal before it, the replica has taken it.
    private struct Transfer {
        let request: UInt64
        var asker: PendingAsk?
        var isRefused = false
    }

    private var waiting: [Change] = []
    private(set) var begun: Begun?
    /// Who waits for ADDED of a record that has come.
    private var added: (index: UInt64, asker: PendingAsk)?
    private var transfers: [Transfer] = []
    private var statuses: [(request: UInt64, asker: PendingAsk)] = []

    var hasWaiting: Bool { !waiting.isEmpty }

    /// When the first ask has waited for too long; nil if none waits.
    var deadline: ContinuousClock.Instant? {
        var all = waiting.compactMap(\.asker) + transfers.compactMap(\.asker)
        all += statuses.map(\.asker)
        if let asker = begun?.change.asker { all.append(asker) }
        if let added { all.append(added.asker) }
        return all.map(\.deadline).min()
    }

    // MARK: Asks

    /// What the node is when it is asked.
    enum Role {
        /// It has no session with its replica.
        case alone
        case following(leader: String?)
        case leading
    }

    /// Takes an ask, or refuses it; returns what is to be said now, with a request that was not used yet.
    mutating func take(_ asker: PendingAsk, _ role: Role, request: UInt64) -> [ServiceWord] {
        if case .alone = role {
            asker.refuse(.unavailable("the replica is not there"))
            return []
        }
        if asker.ask == .status {
            guard statuses.count < Self.maximumStatusCount else {
                asker.refuse(.tooMany(limit: Self.maximumStatusCount))
                return []
            }
            statuses.append((request, asker))
            return [.status(request: request)]
        }
        if case .following(let leader) = role {
            asker.refuse(.notLeader(leader: leader))
            return []
        }
        switch asker.ask {
        case .status: return []
        case .add(let name, let url): put(.add, text: "\(name)\n\(url)", asker)
        case .remove(let node): put(.remove, node: node, asker)
        case .transfer(let node): return transfer(to: node, request: request, for: asker)
        }
        return []
    }

    private mutating func put(
        _ kind: MemberChange,
        node: UInt64 = 0,
        text: String = "",
        _ asker: PendingAsk
    ) {
        guard waiting.count < Self.maximumCount else {
            return asker.refuse(.tooMany(limit: Self.maximumCount))
        }
        waiting.append(Change(kind: kind, node: node, text: text, asker: asker))
    }

    // MARK: Changes

    /// Takes what the replica wants; it asks again each second.
    mutating func want(_ kind: MemberChange, node: UInt64) {
        let change = Change(kind: kind, node: node)
        let known = waiting + (begun.map { [$0.change] } ?? [])
        guard !known.contains(where: change.isSame(as:)) else { return }
        waiting.append(change)
    }

    /// Begins the oldest change, for which an index was left out.
    mutating func begin(at index: UInt64) {
        begun = Begun(change: waiting.removeFirst(), index: index)
    }

    /// The change that is to be said now.
    mutating func say() -> Begun? {
        begun?.isSaid = true
        return begun
    }

    /// Whether the record of an index is that of the change on its way, which is over then.
    mutating func end(at index: UInt64) -> Bool {
        guard let begun, begun.isSaid, begun.index == index else { return false }
        self.begun = nil
        guard let asker = begun.change.asker else { return true }
        if begun.change.kind == .add {
            added = (index, asker)
        } else {
            asker.answer(.success(.done))
        }
        return true
    }

    /// ADDED has come.
    mutating func added(_ index: UInt64, node: UInt64, token: String) {
        let answer = Result<ClusterAnswer, ClusterRefusal>.success(
            .added(node: node, token: token)
        )
        if let begun, begun.index == index {
            begun.change.asker?.answer(answer)
            self.begun?.change.asker = nil
        } else if let added, added.index == index {
            added.asker.answer(answer)
            self.added = nil
        }
    }

    /// The change on its way was refused; false if it is not the one of this index.
    mutating func refuse(_ index: UInt64, _ refusal: ClusterRefusal, isOver: Bool) -> Bool {
        guard let begun, begun.index == index else { return false }
        begun.change.asker?.refuse(refusal)
        self.begun?.change.asker = nil
        if isOver { self.begun = nil }
        return true
    }

    // MARK: Transfers and statuses

    /// Says TRANSFER, for an operator or by the node itself, and then STATUS.
    mutating func transfer(
        to node: UInt64,
        request: UInt64,
        for asker: PendingAsk? = nil
    ) -> [ServiceWord] {
        transfers.append(Transfer(request: request, asker: asker))
        return [.transfer(node: node), .status(request: request)]
    }

    /// The replica does not take the oldest TRANSFER that it has not answered.
    mutating func refuseTransfer(_ text: String) {
        guard let place = transfers.firstIndex(where: { !$0.isRefused }) else { return }
        transfers[place].asker?.refuse(.refused(text))
        transfers[place].asker = nil
        transfers[place].isRefused = true
    }

    /// STATUS_IS has come; nil if its document is another one than expected.
    mutating func take(_ status: ReplicaStatus?, _ request: UInt64) {
        if let place = statuses.firstIndex(where: { $0.request == request }) {
            let asker = statuses.remove(at: place).asker
            guard let status else { return asker.refuse(.unavailable(Self.unreadable)) }
            asker.answer(.success(.status(status)))
        } else if let place = transfers.firstIndex(where: { $0.request == request }) {
            transfers.remove(at: place).asker?.answer(.success(.done))
        }
    }

    // MARK: The end of the wait

    /// Answers who has waited for too long; a change that has begun goes on.
    mutating func expire(at now: ContinuousClock.Instant) {
        guard let deadline, now >= deadline else { return }
        let isOver = { (asker: PendingAsk?) in asker.map { now >= $0.deadline } ?? false }
        for change in waiting where isOver(change.asker) {
            change.asker?.refuse(
                .unavailable("its turn has not come in time, and nothing was proposed")
            )
        }
        waiting.removeAll { isOver($0.asker) }
        if isOver(begun?.change.asker) {
            if let late = begun?.change.asker { late.refuse(.inDoubt(late.silence)) }
            begun?.change.asker = nil
        }
        if let late = added, isOver(late.asker) {
            late.asker.refuse(.inDoubt("the node was added, and its token has not come"))
            added = nil
        }
        for place in transfers.indices where isOver(transfers[place].asker) {
            if let late = transfers[place].asker { late.refuse(.inDoubt(late.silence)) }
            transfers[place].asker = nil
        }
        for status in statuses where isOver(status.asker) {
            status.asker.refuse(.unavailable(status.asker.silence))
        }
        statuses.removeAll { isOver($0.asker) }
    }

    /// Answers everybody: the session has ended, with these words.
    ///
    /// If that is because another node is known to lead, a transfer is what was asked for.
    mutating func end(_ words: String, isTransferred: Bool) {
        for change in waiting { change.asker?.refuse(.unavailable(words)) }
        if let begun {
            begun.change.asker?.refuse(begun.isSaid ? .inDoubt(words) : .unavailable(words))
        }
        added?.asker.refuse(.inDoubt(words))
        for transfer in transfers {
            transfer.asker?.answer(isTransferred ? .success(.done) : .failure(.inDoubt(words)))
        }
        for status in statuses { status.asker.refuse(.unavailable(words)) }
        self = MemberChanges()
    }
}

/// The chains of the newest records of a node, by which nodes are compared.
struct RecentChains {
    static let maximumCount = 4_096

    private var hashes: [UInt64] = []
    /// The first and the last record whose chain is known.
    private var records: ClosedRange<UInt64>

    init(_ record: UInt64, _ hash: UInt64) {
        records = record...record
        hashes = [UInt64](repeating: 0, count: Self.maximumCount)
        hashes[Self.place(of: record)] = hash
    }

    /// Notes the record behind the last one; O(1).
    mutating func append(_ record: UInt64, _ hash: UInt64) {
        precondition(record == records.upperBound + 1, "Records are noted in their order.")
        hashes[Self.place(of: record)] = hash
        let oldest = record < UInt64(Self.maximumCount) ? 0 : record - UInt64(Self.maximumCount) + 1
        records = max(records.lowerBound, oldest)...record
    }

    subscript(record: UInt64) -> UInt64? {
        records.contains(record) ? hashes[Self.place(of: record)] : nil
    }

    private static func place(of record: UInt64) -> Int { Int(record % UInt64(maximumCount)) }
}
