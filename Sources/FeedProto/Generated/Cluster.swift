// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

/// Asks what a node knows of its cluster; for operators only, else PERMISSION_DENIED / ROLE_DENIED.
///
/// Any node answers, also one without a leader.
///
/// The answers to the calls of this section may come after those to later calls of the connection.
/// All three get FAILED_PRECONDITION / NO_CLUSTER from a service of one machine, and UNAVAILABLE /
/// REPLICA_SILENT from one whose replica is not there or has not answered for 10 seconds; unless
/// `isNotExecuted` is set there, what was asked for may happen all the same.
///
/// The answer: `ClusterStatus`.
public struct ClusterStatusRequest: Equatable, Sendable {
    /// The record of the log whose chain is asked for; 0 is the newest one that the service has.
    public var record: UInt64

    /// All fields; each has a default.
    public init(record: UInt64 = 0) {
        self.record = record
    }
}

/// What a node knows of its cluster.
///
/// The numbers of nodes are 16 hexadecimal digits.
public struct ClusterStatus: Equatable, Sendable {
    /// This node.
    public var node: String
    /// The name of this node.
    public var name: String
    /// The cluster: 32 hexadecimal digits.
    public var cluster: String
    /// leader, follower, learner, searching (for a leader) or draining (a log over its limit).
    public var role: String
    /// The newest term that the node has seen.
    public var term: UInt64
    /// The node that leads; empty if there is none, or it is not known.
    public var leader: String
    /// The first record that the replica's log still has.
    public var firstRecord: UInt64
    /// The last record of the replica's log, committed or not.
    public var lastRecord: UInt64
    /// The newest record that is committed, as far as the node knows.
    public var committedRecord: UInt64
    /// The newest record that the service has on its disk.
    public var durableRecord: UInt64
    /// The bytes of the replica's log.
    public var logByteCount: UInt64
    /// How long ago a follower has heard of its leader; -1 if it has heard nothing, and of a
    /// leader.
    public var heardAgeMilliseconds: Int64
    /// The copies of the state that are on their way to other nodes.
    public var copyCount: UInt32
    /// All nodes of the cluster, by their names.
    public var members: [MemberStatus]
    /// The record that `chain` is of: the one of the request; 0 if it is not among the newest 4,096
    /// that the service has since its start, or is still to come.
    public var record: UInt64
    /// A hash over all records of the cluster up to that one: the same on all nodes.
    public var chain: UInt64

    /// All fields; each has a default.
    public init(
        node: String = "",
        name: String = "",
        cluster: String = "",
        role: String = "",
        term: UInt64 = 0,
        leader: String = "",
        firstRecord: UInt64 = 0,
        lastRecord: UInt64 = 0,
        committedRecord: UInt64 = 0,
        durableRecord: UInt64 = 0,
        logByteCount: UInt64 = 0,
        heardAgeMilliseconds: Int64 = 0,
        copyCount: UInt32 = 0,
        members: [MemberStatus] = [],
        record: UInt64 = 0,
        chain: UInt64 = 0
    ) {
        self.node = node
        self.name = name
        self.cluster = cluster
        self.role = role
        self.term = term
        self.leader = leader
        self.firstRecord = firstRecord
        self.lastRecord = lastRecord
        self.committedRecord = committedRecord
        self.durableRecord = durableRecord
        self.logByteCount = logByteCount
        self.heardAgeMilliseconds = heardAgeMilliseconds
        self.copyCount = copyCount
        self.members = members
        self.record = record
        self.chain = chain
    }
}

/// What a node knows of a member of its cluster.
public struct MemberStatus: Equatable, Sendable {
    /// The member's number.
    public var node: String
    /// The member's name.
    public var name: String
    /// Where the other replicas reach it.
    public var url: String
    /// Whether it votes; a node that was added learns at first.
    public var isVoter: Bool
    /// Whether there is a connection to it.
    public var isConnected: Bool
    /// Where clients reach its service, as host:port; empty if that is not known.
    public var address: String
    /// The lowest level of log entries that its service reads; 0 if that is not known.
    public var lowestLevel: UInt64
    /// The highest level of log entries that its service reads; 0 if that is not known.
    public var highestLevel: UInt64
    /// How long ago its replica has told of its service; 0 of the node itself, and if it is not
    /// known.
    public var serviceAgeMilliseconds: UInt64
    /// The last record that it is known to have, if the answering node leads; else 0.
    public var matchingRecord: UInt64
    /// How the leader sends to it, as `replicate`; empty if the answering node does not lead.
    public var state: String
    /// How many bytes of the log it lacks, if the answering node leads and is connected to it; else
    /// 0.
    public var lagByteCount: UInt64
    /// For how long it has lacked them, a minute at most, in the same case; else 0.
    public var lagMilliseconds: UInt64
    /// Whether its replica has told that its service has ended, or has said nothing for 1.5 s.
    public var isServiceGone: Bool

    /// All fields; each has a default.
    public init(
        node: String = "",
        name: String = "",
        url: String = "",
        isVoter: Bool = false,
        isConnected: Bool = false,
        address: String = "",
        lowestLevel: UInt64 = 0,
        highestLevel: UInt64 = 0,
        serviceAgeMilliseconds: UInt64 = 0,
        matchingRecord: UInt64 = 0,
        state: String = "",
        lagByteCount: UInt64 = 0,
        lagMilliseconds: UInt64 = 0,
        isServiceGone: Bool = false
    ) {
        self.node = node
        self.name = name
        self.url = url
        self.isVoter = isVoter
        self.isConnected = isConnected
        self.address = address
        self.lowestLevel = lowestLevel
        self.highestLevel = highestLevel
        self.serviceAgeMilliseconds = serviceAgeMilliseconds
        self.matchingRecord = matchingRecord
        self.state = state
        self.lagByteCount = lagByteCount
        self.lagMilliseconds = lagMilliseconds
        self.isServiceGone = isServiceGone
    }
}

/// Adds a node to the cluster, or removes one; for operators only, else PERMISSION_DENIED /
/// ROLE_DENIED.
///
/// Only the leader takes it, else NOT_LEADER. It names either a node to add or one to remove, else
/// BAD_FIELD. The cluster may refuse it: FAILED_PRECONDITION / REPLICA_REFUSED, with the cause in
/// words. RESOURCE_EXHAUSTED / OVERLOADED if 16 changes wait.
///
/// The call takes no sequence: if its answer is lost, ClusterStatus says whether it was made.
///
/// The answer: `ChangeMembersResponse`.
public struct ChangeMembersRequest: Equatable, Sendable {
    /// The name of a node to add.
    public var addName: String
    /// Where the other replicas will reach that node, as https://host:port.
    public var addURL: String
    /// The number of a node to remove, 16 hexadecimal digits.
    public var removeNode: String

    /// All fields; each has a default.
    public init(addName: String = "", addURL: String = "", removeNode: String = "") {
        self.addName = addName
        self.addURL = addURL
        self.removeNode = removeNode
    }
}

/// The change that was made.
public struct ChangeMembersResponse: Equatable, Sendable {
    /// The number of the node that was added or removed.
    public var node: String
    /// What `feed-replica join` takes on the machine of a node that was added; else empty.
    public var token: String

    /// All fields; each must be given.
    public init(node: String, token: String) {
        self.node = node
        self.token = token
    }
}

/// Gives the leadership to another node; for operators only, else PERMISSION_DENIED / ROLE_DENIED.
///
/// Only the leader takes it, else NOT_LEADER. It may refuse it: FAILED_PRECONDITION /
/// REPLICA_REFUSED.
///
/// The answer says that the leadership is on its way. The service then ends its connections with
/// GoAway / NOT_LEADER, which may come in place of the answer. Whether the node leads, it says
/// itself: ClusterStatus.
///
/// The answer: `Empty`.
public struct TransferLeadershipRequest: Equatable, Sendable {
    /// The number of the node, 16 hexadecimal digits; empty is any other one that votes.
    public var node: String

    /// All fields; each has a default.
    public init(node: String = "") {
        self.node = node
    }
}

extension ClusterStatusRequest: SwiftMessage {
    package static var fieldCount: Int { 1 }
    package static var structByteCount: Int { 32 }

    package static func field(_ index: Int) -> FieldShape {
        FieldShape(1, .uint64)
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) {
        self.init(
            record: tree.number(node, 0)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, record)
    }
}

extension ClusterStatus: SwiftMessage {
    package static var fieldCount: Int { 16 }
    package static var structByteCount: Int { 200 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        case 1: FieldShape(2, .bytes)
        case 2: FieldShape(3, .bytes)
        case 3: FieldShape(4, .bytes)
        case 4: FieldShape(5, .uint64)
        case 5: FieldShape(6, .bytes)
        case 6: FieldShape(7, .uint64)
        case 7: FieldShape(8, .uint64)
        case 8: FieldShape(9, .uint64)
        case 9: FieldShape(10, .uint64)
        case 10: FieldShape(11, .uint64)
        case 11: FieldShape(12, .uint64)
        case 12: FieldShape(13, .uint32)
        case 13: FieldShape(14, .message(MemberStatus.self), .repeated)
        case 14: FieldShape(15, .uint64)
        default: FieldShape(16, .fixed64)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            node: tree.text(node, 0, "node"),
            name: tree.text(node, 1, "name"),
            cluster: tree.text(node, 2, "cluster"),
            role: tree.text(node, 3, "role"),
            term: tree.number(node, 4),
            leader: tree.text(node, 5, "leader"),
            firstRecord: tree.number(node, 6),
            lastRecord: tree.number(node, 7),
            committedRecord: tree.number(node, 8),
            durableRecord: tree.number(node, 9),
            logByteCount: tree.number(node, 10),
            heardAgeMilliseconds: tree.number(node, 11),
            copyCount: tree.number(node, 12),
            members: tree.messages(node, 13, "members"),
            record: tree.number(node, 14),
            chain: tree.number(node, 15)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, node)
        writer.text(2, name)
        writer.text(3, cluster)
        writer.text(4, role)
        writer.number(5, term)
        writer.text(6, leader)
        writer.number(7, firstRecord)
        writer.number(8, lastRecord)
        writer.number(9, committedRecord)
        writer.number(10, durableRecord)
        writer.number(11, logByteCount)
        writer.number(12, heardAgeMilliseconds)
        writer.number(13, copyCount)
        writer.messages(14, members)
        writer.number(15, record)
        writer.fixed64(16, chain)
    }
}

extension MemberStatus: SwiftMessage {
    package static var fieldCount: Int { 14 }
    package static var structByteCount: Int { 168 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        case 1: FieldShape(2, .bytes)
        case 2: FieldShape(3, .bytes)
        case 3: FieldShape(4, .bool)
        case 4: FieldShape(5, .bool)
        case 5: FieldShape(6, .bytes)
        case 6: FieldShape(7, .uint64)
        case 7: FieldShape(8, .uint64)
        case 8: FieldShape(9, .uint64)
        case 9: FieldShape(10, .uint64)
        case 10: FieldShape(11, .bytes)
        case 11: FieldShape(12, .uint64)
        case 12: FieldShape(13, .uint64)
        default: FieldShape(14, .bool)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            node: tree.text(node, 0, "node"),
            name: tree.text(node, 1, "name"),
            url: tree.text(node, 2, "url"),
            isVoter: tree.flag(node, 3),
            isConnected: tree.flag(node, 4),
            address: tree.text(node, 5, "address"),
            lowestLevel: tree.number(node, 6),
            highestLevel: tree.number(node, 7),
            serviceAgeMilliseconds: tree.number(node, 8),
            matchingRecord: tree.number(node, 9),
            state: tree.text(node, 10, "state"),
            lagByteCount: tree.number(node, 11),
            lagMilliseconds: tree.number(node, 12),
            isServiceGone: tree.flag(node, 13)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, node)
        writer.text(2, name)
        writer.text(3, url)
        writer.flag(4, isVoter)
        writer.flag(5, isConnected)
        writer.text(6, address)
        writer.number(7, lowestLevel)
        writer.number(8, highestLevel)
        writer.number(9, serviceAgeMilliseconds)
        writer.number(10, matchingRecord)
        writer.text(11, state)
        writer.number(12, lagByteCount)
        writer.number(13, lagMilliseconds)
        writer.flag(14, isServiceGone)
    }
}

extension ChangeMembersRequest: SwiftMessage {
    package static var fieldCount: Int { 3 }
    package static var structByteCount: Int { 72 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        case 1: FieldShape(2, .bytes)
        default: FieldShape(3, .bytes)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            addName: tree.text(node, 0, "add_name"),
            addURL: tree.text(node, 1, "add_url"),
            removeNode: tree.text(node, 2, "remove_node")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, addName)
        writer.text(2, addURL)
        writer.text(3, removeNode)
    }
}

extension ChangeMembersResponse: SwiftMessage {
    package static var fieldCount: Int { 2 }
    package static var structByteCount: Int { 56 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        default: FieldShape(2, .bytes)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            node: tree.text(node, 0, "node"),
            token: tree.text(node, 1, "token")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, node)
        writer.text(2, token)
    }
}

extension TransferLeadershipRequest: SwiftMessage {
    package static var fieldCount: Int { 1 }
    package static var structByteCount: Int { 40 }

    package static func field(_ index: Int) -> FieldShape {
        FieldShape(1, .bytes)
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            node: tree.text(node, 0, "node")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, node)
    }
}
