// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

import CFeedProto

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

extension ClusterStatusRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__ClusterStatusRequest>) {
        unsafe feed__v1__cluster_status_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__ClusterStatusRequest>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            record: message.pointee.record
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__ClusterStatusRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.record = record
    }
}

extension ClusterStatus: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__ClusterStatus>) {
        unsafe feed__v1__cluster_status__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__ClusterStatus>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            node: reader.text(message.pointee.node, "node"),
            name: reader.text(message.pointee.name, "name"),
            cluster: reader.text(message.pointee.cluster, "cluster"),
            role: reader.text(message.pointee.role, "role"),
            term: message.pointee.term,
            leader: reader.text(message.pointee.leader, "leader"),
            firstRecord: message.pointee.first,
            lastRecord: message.pointee.last,
            committedRecord: message.pointee.committed,
            durableRecord: message.pointee.durable,
            logByteCount: message.pointee.log_bytes,
            heardAgeMilliseconds: message.pointee.heard_age_ms,
            copyCount: message.pointee.copies,
            members: reader.messages(
                message.pointee.members,
                count: message.pointee.n_members,
                "members"
            ),
            record: message.pointee.record,
            chain: message.pointee.chain
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__ClusterStatus>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.node = arena.text(node)
        unsafe message.pointee.name = arena.text(name)
        unsafe message.pointee.cluster = arena.text(cluster)
        unsafe message.pointee.role = arena.text(role)
        unsafe message.pointee.term = term
        unsafe message.pointee.leader = arena.text(leader)
        unsafe message.pointee.first = firstRecord
        unsafe message.pointee.last = lastRecord
        unsafe message.pointee.committed = committedRecord
        unsafe message.pointee.durable = durableRecord
        unsafe message.pointee.log_bytes = logByteCount
        unsafe message.pointee.heard_age_ms = heardAgeMilliseconds
        unsafe message.pointee.copies = copyCount
        unsafe message.pointee.n_members = members.count
        unsafe message.pointee.members = arena.messages(members)
        unsafe message.pointee.record = record
        unsafe message.pointee.chain = chain
    }
}

extension MemberStatus: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__MemberStatus>) {
        unsafe feed__v1__member_status__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__MemberStatus>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            node: reader.text(message.pointee.node, "node"),
            name: reader.text(message.pointee.name, "name"),
            url: reader.text(message.pointee.url, "url"),
            isVoter: message.pointee.voter != 0,
            isConnected: message.pointee.connected != 0,
            address: reader.text(message.pointee.address, "address"),
            lowestLevel: message.pointee.lowest_level,
            highestLevel: message.pointee.highest_level,
            serviceAgeMilliseconds: message.pointee.service_age_ms,
            matchingRecord: message.pointee.match,
            state: reader.text(message.pointee.state, "state"),
            lagByteCount: message.pointee.lag_bytes,
            lagMilliseconds: message.pointee.lag_ms,
            isServiceGone: message.pointee.service_gone != 0
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__MemberStatus>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.node = arena.text(node)
        unsafe message.pointee.name = arena.text(name)
        unsafe message.pointee.url = arena.text(url)
        unsafe message.pointee.voter = isVoter ? 1 : 0
        unsafe message.pointee.connected = isConnected ? 1 : 0
        unsafe message.pointee.address = arena.text(address)
        unsafe message.pointee.lowest_level = lowestLevel
        unsafe message.pointee.highest_level = highestLevel
        unsafe message.pointee.service_age_ms = serviceAgeMilliseconds
        unsafe message.pointee.match = matchingRecord
        unsafe message.pointee.state = arena.text(state)
        unsafe message.pointee.lag_bytes = lagByteCount
        unsafe message.pointee.lag_ms = lagMilliseconds
        unsafe message.pointee.service_gone = isServiceGone ? 1 : 0
    }
}

extension ChangeMembersRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__ChangeMembersRequest>) {
        unsafe feed__v1__change_members_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__ChangeMembersRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            addName: reader.text(message.pointee.add_name, "add_name"),
            addURL: reader.text(message.pointee.add_url, "add_url"),
            removeNode: reader.text(message.pointee.remove_node, "remove_node")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__ChangeMembersRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.add_name = arena.text(addName)
        unsafe message.pointee.add_url = arena.text(addURL)
        unsafe message.pointee.remove_node = arena.text(removeNode)
    }
}

extension ChangeMembersResponse: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__ChangeMembersResponse>) {
        unsafe feed__v1__change_members_response__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__ChangeMembersResponse>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            node: reader.text(message.pointee.node, "node"),
            token: reader.text(message.pointee.token, "token")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__ChangeMembersResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.node = arena.text(node)
        unsafe message.pointee.token = arena.text(token)
    }
}

extension TransferLeadershipRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__TransferLeadershipRequest>) {
        unsafe feed__v1__transfer_leadership_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__TransferLeadershipRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            node: reader.text(message.pointee.node, "node")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__TransferLeadershipRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.node = arena.text(node)
    }
}
