// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

#if canImport(CFeedProto)

import CFeedProto

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

#endif
