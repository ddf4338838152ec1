// What a service and its replica say to each other: docs/REPLICA.md, "The socket", is the contract.

/// Limits of the words, and the version that they are of.
package enum ReplicaLimits {
    /// The version of the words, which HELLO and WELCOME say.
    package static let version: UInt64 = 1
    /// The longest batch that the log takes.
    package static let bodyByteCount = 8 << 20
    /// The longest frame, without the 4 bytes of its length.
    package static let frameByteCount = 16 << 20
    /// The longest text, address or path.
    package static let textByteCount = 4 << 10
    /// The longest token of a node that was added.
    package static let tokenByteCount = 16 << 10
    /// The longest document of STATUS_IS.
    package static let documentByteCount = 1 << 20
    /// The most bytes that wait for the other side to read, before the socket counts as broken.
    package static let unsentByteCount = 32 << 20
}

/// The number of a cluster: 16 bytes, the first one highest.
package struct ClusterID: Hashable, Sendable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Of a service without a state.
    package static let none = ClusterID(high: 0, low: 0)

    /// 32 hexadecimal digits.
    package var description: String {
        [high, low].map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// A change of the members.
package enum MemberChange: UInt64, Sendable, CaseIterable {
    case add = 1
    case promote = 2
    case remove = 3
}

/// What a record of the log is; only a batch has bytes.
package enum EntryKind: UInt64, Sendable, CaseIterable {
    case batch = 0
    case memberChange = 1
    case leaderBegins = 2
}

/// Why a proposal, a change of the members or a transfer was refused.
package enum RefusalReason: UInt64, Sendable, CaseIterable {
    case notLeader = 1
    case otherTerm = 2
    case otherIndex = 3
    case tooLarge = 4
    /// The leadership is on its way to another node.
    case transferring = 5
    /// More than 32 MiB or 4,096 records are not committed.
    case tooMuchUncommitted = 6
    case badMemberChange = 7
    case badTransfer = 8
}

/// Why the replica ends a session.
package enum EndReason: UInt64, Sendable, CaseIterable {
    /// Another session has come.
    case replaced = 32
    /// A frame was wrong or out of place.
    case badFrame = 33
    case otherVersion = 34
    case otherCluster = 35
    /// The service takes nothing: 4,096 words wait.
    case tooSlow = 36
    case stopping = 37
}

/// How a service begins a session.
package struct ReplicaHello: Equatable, Sendable {
    package var version: UInt64
    /// The last record that the service has, all of it committed; 0 without a state.
    package var applied: UInt64
    /// The levels of entries that the service reads.
    package var levels: ClosedRange<UInt64>
    package var cluster: ClusterID
    /// Where clients reach the service, at most 4 KiB.
    package var address: String

    package init(
        version: UInt64 = ReplicaLimits.version,
        applied: UInt64,
        levels: ClosedRange<UInt64>,
        cluster: ClusterID,
        address: String
    ) {
        self.version = version
        self.applied = applied
        self.levels = levels
        self.cluster = cluster
        self.address = address
    }
}

/// How a replica answers HELLO.
package struct ReplicaWelcome: Equatable, Sendable {
    package var version: UInt64
    /// This node.
    package var node: UInt64
    package var term: UInt64
    /// The node that leads; 0 for none.
    package var leader: UInt64
    package var committed: UInt64
    /// The last record of the log, committed or not.
    package var last: UInt64
    package var cluster: ClusterID

    package init(
        version: UInt64 = ReplicaLimits.version,
        node: UInt64,
        term: UInt64,
        leader: UInt64,
        committed: UInt64,
        last: UInt64,
        cluster: ClusterID
    ) {
        self.version = version
        self.node = node
        self.term = term
        self.leader = leader
        self.committed = committed
        self.last = last
        self.cluster = cluster
    }
}

/// Who leads.
package struct ReplicaRole: Equatable, Sendable {
    /// Whether this node leads, so its service proposes from `index` + 1 on.
    package var leads: Bool
    package var term: UInt64
    /// The node that leads; 0 for none.
    package var leader: UInt64
    package var index: UInt64

    package init(leads: Bool, term: UInt64, leader: UInt64, index: UInt64) {
        self.leads = leads
        self.term = term
        self.leader = leader
        self.index = index
    }
}

/// What the service says to its replica.
package enum ServiceWord: Equatable, Sendable {
    case hello(ReplicaHello)
    /// A batch, which is passed beside the word.
    case propose(term: UInt64, index: UInt64)
    /// The last record that the journal has synced.
    case durable(UInt64)
    case read(UInt64)
    /// The text is the name, a line feed and the URL of a node to add, else empty.
    case member(term: UInt64, index: UInt64, MemberChange, node: UInt64, text: String)
    /// To a node, or 0 for any.
    case transfer(node: UInt64)
    case status(request: UInt64)
    case copy(request: UInt64, index: UInt64, path: String)
    case noCopy(request: UInt64, why: String)
}

/// What the replica says.
package enum ReplicaWord: Equatable, Sendable {
    case welcome(ReplicaWelcome)
    case entry(index: UInt64, term: UInt64, EntryKind, body: [UInt8])
    /// All that this session has proposed in the term, up to the index.
    case committed(term: UInt64, index: UInt64)
    case role(ReplicaRole)
    case refused(term: UInt64, index: UInt64, RefusalReason, text: String)
    case readOK(UInt64)
    case readNo(UInt64)
    /// All up to the index was committed at that moment of the monotonic clock.
    case heard(committed: UInt64, microseconds: UInt64)
    case added(index: UInt64, node: UInt64, token: String)
    case memberWanted(MemberChange, node: UInt64)
    case copyWanted(request: UInt64, least: UInt64)
    case copyDone(request: UInt64)
    case install(index: UInt64, path: String)
    case tooOld(first: UInt64)
    case statusIs(request: UInt64, json: [UInt8])
    case end(EndReason, text: String)
}
