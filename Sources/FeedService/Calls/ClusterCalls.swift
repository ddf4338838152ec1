internal import FeedCalls
internal import FeedConcurrency
internal import FeedProto
internal import FeedState
internal import FoundationEssentials

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
        case .success(.status(let json)):
            guard var status = ClusterStatus(json: json) else {
                let cause = "the replica has sent a status that this version cannot read"
                throw Status(ClusterRefusal.unavailable(cause))
            }
            if let mark = environment.context.state?.chain(ofRecord: call.record) {
                status.record = mark.record
                status.chain = mark.hash
            }
            return .clusterStatus(status)
        case .success(.added(let node, let token)):
            return .changeMembers(ChangeMembersResponse(node: nodeText(node), token: token))
        case .success(.done):
            guard case .remove(let node) = call.ask else { return .empty }
            return .changeMembers(ChangeMembersResponse(node: nodeText(node), token: ""))
        case .failure(let refusal): throw Status(refusal)
        }
    }

    /// The number of a node as the wire has it.
    private func nodeText(_ node: UInt64) -> String {
        let digits = String(node, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
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

// The JSON of STATUS_IS; docs/CLUSTER.md has its members.
extension ClusterStatus {
    private struct Document: Decodable {
        struct Member: Decodable {
            struct Service: Decodable {
                var address: String?
                var lowestLevel: UInt64?
                var highestLevel: UInt64?
            }

            var node: String
            var name: String
            var url: String
            var voter: Bool
            var connected: Bool
            var service: Service?
            var serviceAgeSeconds: Double?
            var match: UInt64?
            var state: String?
            var lagBytes: Int64?
            var lagSeconds: Double?
        }

        var node: String
        var name: String
        var cluster: String
        var role: String
        var term: UInt64
        var leader: String
        var first: UInt64
        var last: UInt64
        var committed: UInt64
        var durable: UInt64
        var logBytes: Int64
        var heardAgeSeconds: Double
        var copies: Int
        var members: [Member]
    }

    /// The status of a document; nil where it is another one.
    init?(json: [UInt8]) {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        guard let document = try? decoder.decode(Document.self, from: Data(json)) else {
            return nil
        }
        self.init(
            node: document.node,
            name: document.name,
            cluster: document.cluster,
            role: document.role,
            term: document.term,
            leader: document.leader.allSatisfy { $0 == "0" } ? "" : document.leader,
            firstRecord: document.first,
            lastRecord: document.last,
            committedRecord: document.committed,
            durableRecord: document.durable,
            logByteCount: UInt64(clamping: document.logBytes),
            heardAgeMilliseconds: document.heardAgeSeconds < 0
                ? -1 : Self.milliseconds(document.heardAgeSeconds),
            copyCount: UInt32(clamping: document.copies),
            members: document.members.map { member in
                MemberStatus(
                    node: member.node,
                    name: member.name,
                    url: member.url,
                    isVoter: member.voter,
                    isConnected: member.connected,
                    address: member.service?.address ?? "",
                    lowestLevel: member.service?.lowestLevel ?? 0,
                    highestLevel: member.service?.highestLevel ?? 0,
                    serviceAgeMilliseconds: UInt64(
                        clamping: Self.milliseconds(member.serviceAgeSeconds ?? 0)
                    ),
                    matchingRecord: member.match ?? 0,
                    state: member.state ?? "",
                    lagByteCount: UInt64(clamping: member.lagBytes ?? 0),
                    lagMilliseconds: UInt64(clamping: Self.milliseconds(member.lagSeconds ?? 0))
                )
            }
        )
    }

    /// Seconds of a document, whatever they are.
    private static func milliseconds(_ seconds: Double) -> Int64 {
        seconds.isFinite ? Int64(max(0, min(seconds, 1e12)) * 1_000) : 0
    }
}
