internal import FeedCalls
internal import FeedConcurrency
internal import FeedJournal
package import FeedProto
package import FeedState

/// A call of an operator about the service's cluster, which the state's thread and the replica answer.
struct ClusterCall {
    /// The id of its request.
    let id: UInt64
    let method: Method
    let ask: ClusterAsk
    /// The record whose chain is asked for; 0 is the newest one.
    var record: UInt64 = 0
}

/// The calls of operators about the service's cluster.
struct ClusterCalls {
    let environment: CallEnvironment

    func status(_ request: ClusterStatusRequest, id: UInt64) throws(Status) -> Answer {
        var call = ClusterCall(id: id, method: .clusterStatus, ask: .status)
        call.record = request.record
        return try later(call)
    }

    func change(_ request: ChangeMembersRequest, id: UInt64) throws(Status) -> Answer {
        try later(ClusterCall(id: id, method: .changeMembers, ask: try ask(of: request)))
    }

    func transfer(_ request: TransferLeadershipRequest, id: UInt64) throws(Status) -> Answer {
        let node = request.node.isEmpty ? 0 : try number(request.node, field: "node")
        return try later(
            ClusterCall(id: id, method: .transferLeadership, ask: .transfer(node: node))
        )
    }

    /// What the replica's answer to a call says.
    func response(
        to call: ClusterCall,
        _ result: Result<ClusterAnswer, ClusterRefusal>
    ) throws(Status) -> Response {
        switch result {
        case .success(.status(let replica)):
            var status = ClusterStatus(replica)
            if let mark = environment.context.state?.chain(ofRecord: call.record) {
                status.record = mark.record
                status.chain = mark.hash
            }
            return .clusterStatus(status)
        case .success(.added(let node, let token)):
            return .changeMembers(ChangeMembersResponse(node: hexadecimal(node), token: token))
        case .success(.done):
            guard case .remove(let node) = call.ask else { return .empty }
            return .changeMembers(ChangeMembersResponse(node: hexadecimal(node), token: ""))
        case .failure(let refusal): throw Status(refusal)
        }
    }

    private func later(_ call: ClusterCall) throws(Status) -> Answer {
        guard environment.context.node != nil else { throw Status(ClusterRefusal.noCluster) }
        return .later(.cluster(call))
    }

    private func ask(of request: ChangeMembersRequest) throws(Status) -> ClusterAsk {
        let (name, url) = (request.addName, request.addURL)
        guard request.removeNode.isEmpty else {
            for (field, text) in [("add_name", name), ("add_url", url)] where !text.isEmpty {
                throw .invalid(
                    .badField,
                    field: field,
                    "\(field) is set, and so is remove_node: a call adds a node or removes one."
                )
            }
            return .remove(node: try number(request.removeNode, field: "remove_node"))
        }
        let limit = ClusterAsk.maximumTextByteCount
        for (field, text) in [("add_name", name), ("add_url", url)] {
            guard (1...limit).contains(text.utf8.count), !text.utf8.contains(0x0A) else {
                throw .invalid(
                    .badField,
                    field: field,
                    "\(field) has \(text.utf8.count) bytes; it takes 1 to \(limit), on one line.",
                    limit: UInt64(limit),
                    actual: UInt64(text.utf8.count)
                )
            }
        }
        return .add(name: name, url: url)
    }

    /// The number of a node.
    private func number(_ text: String, field: String) throws(Status) -> UInt64 {
        guard text.utf8.count == 16, text.utf8.allSatisfy({ $0 != 0x2B && $0 != 0x2D }),
            let node = UInt64(text, radix: 16), node != 0
        else {
            throw .invalid(
                .badField,
                field: field,
                "\(field) is \"\(text.prefix(32))\": expected 16 hexadecimal digits, not all 0."
            )
        }
        return node
    }
}

extension Status {
    fileprivate init(_ refusal: ClusterRefusal) {
        switch refusal {
        case .noCluster:
            self.init(
                .noCluster,
                "This service is no node of a cluster: it was started without --replica."
            )
        case .notLeader(let leader): self = .notLeader(leader)
        case .refused(let text): self.init(.replicaRefused, "The cluster refuses it: \(text).")
        case .tooMany(let limit):
            self.init(
                .overloaded,
                "\(limit) such calls wait for the cluster already, which is the limit.",
                retryMilliseconds: 1_000
            )
        case .unavailable(let cause):
            self.init(.replicaSilent, "There is no answer: \(cause).")
        case .inDoubt(let cause):
            self.init(
                .replicaSilent,
                "It is in doubt, and may happen all the same: \(cause).",
                isNotExecuted: false
            )
        }
    }
}

extension ClusterStatus {
    package init(_ status: ReplicaStatus) {
        self.init(
            node: hexadecimal(status.node),
            name: status.name,
            cluster: status.cluster,
            role: status.role,
            term: status.term,
            leader: status.leader == 0 ? "" : hexadecimal(status.leader),
            firstRecord: status.firstRecord,
            lastRecord: status.lastRecord,
            committedRecord: status.committedRecord,
            durableRecord: status.durableRecord,
            logByteCount: UInt64(clamping: status.logByteCount),
            heardAgeMilliseconds: status.heardAgeSeconds < 0
                ? -1 : milliseconds(status.heardAgeSeconds),
            copyCount: UInt32(clamping: status.copyCount),
            members: status.members.map(MemberStatus.init)
        )
    }
}

extension MemberStatus {
    fileprivate init(_ member: ReplicaStatus.Member) {
        self.init(
            node: hexadecimal(member.node),
            name: member.name,
            url: member.url,
            isVoter: member.isVoter,
            isConnected: member.isConnected,
            address: member.address,
            lowestLevel: member.service?.lowestLevel ?? 0,
            highestLevel: member.service?.highestLevel ?? 0,
            serviceAgeMilliseconds: UInt64(milliseconds(member.serviceAgeSeconds ?? 0)),
            matchingRecord: member.match ?? 0,
            state: member.state ?? "",
            isServiceGone: member.service?.isGone ?? false
        )
        // Of a node that is not there, nobody knows what it has.
        guard member.isConnected else { return }
        lagByteCount = UInt64(clamping: member.lagByteCount ?? 0)
        lagMilliseconds = UInt64(milliseconds(member.lagSeconds ?? 0))
    }
}

/// Seconds of a document as milliseconds: 0 if they are negative or no number, 10^15 at most.
private func milliseconds(_ seconds: Double) -> Int64 {
    seconds.isFinite ? Int64(max(0, min(seconds, 1e12)) * 1_000) : 0
}
