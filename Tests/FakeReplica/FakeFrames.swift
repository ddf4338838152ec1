package import FeedReplica

// The words in the direction that only a replica needs: the service's are read, the replica's are said.

extension ServiceWord {
    /// What a frame says; the tail of PROPOSE is the batch.
    package init(_ frame: Frame, tail: [UInt8]) throws(ReplicaError) {
        let fields = frame.fields
        let text = String(decoding: tail, as: UTF8.self)
        switch frame.kind {
        case .hello:
            guard fields[2] <= fields[3] else {
                throw frame.bad("expected levels that rise, got \(fields[2]) to \(fields[3])")
            }
            self = .hello(
                ReplicaHello(
                    version: fields[0],
                    applied: fields[1],
                    levels: fields[2]...fields[3],
                    cluster: ClusterID(Array(tail[..<ClusterID.byteCount])),
                    address: String(decoding: tail[ClusterID.byteCount...], as: UTF8.self)
                )
            )
        case .propose: self = .propose(term: fields[0], index: fields[1])
        case .durable: self = .durable(fields[0])
        case .read: self = .read(fields[0])
        case .member:
            self = .member(
                term: fields[0],
                index: fields[1],
                try frame.value(2, "change"),
                node: fields[3],
                text: text
            )
        case .transfer: self = .transfer(node: fields[0])
        case .status: self = .status(request: fields[0])
        case .copy: self = .copy(request: fields[0], index: fields[1], path: text)
        case .noCopy: self = .noCopy(request: fields[0], why: text)
        default: throw frame.bad("a service does not say it")
        }
    }
}

extension FrameSocket {
    /// Says a word of a replica.
    package func send(_ word: ReplicaWord) {
        switch word {
        case .welcome(let welcome):
            let tail = welcome.cluster.bytes
            send(
                .welcome,
                [
                    welcome.version, welcome.node, welcome.term, welcome.leader, welcome.committed,
                    welcome.last,
                ],
                tail: tail.span
            )
        case .entry(let index, let term, let kind, let body):
            send(.entry, [index, term, kind.rawValue], tail: body.span)
        case .committed(let term, let index): send(.committed, [term, index])
        case .role(let role):
            send(.role, [role.leads ? 1 : 0, role.term, role.leader, role.index])
        case .refused(let term, let index, let reason, let text):
            let text = Array(text.utf8)
            send(.refused, [term, index, reason.rawValue], tail: text.span)
        case .readOK(let id): send(.readOK, [id])
        case .readNo(let id): send(.readNo, [id])
        case .heard(let committed, let microseconds): send(.heard, [committed, microseconds])
        case .added(let index, let node, let token):
            let token = Array(token.utf8)
            send(.added, [index, node], tail: token.span)
        case .memberWanted(let change, let node): send(.memberWanted, [change.rawValue, node])
        case .copyWanted(let request, let least): send(.copyWanted, [request, least])
        case .copyDone(let request): send(.copyDone, [request])
        case .install(let index, let path):
            let path = Array(path.utf8)
            send(.install, [index], tail: path.span)
        case .tooOld(let first): send(.tooOld, [first])
        case .statusIs(let request, let json): send(.statusIs, [request], tail: json.span)
        case .end(let reason, let text):
            let text = Array(text.utf8)
            send(.end, [reason.rawValue], tail: text.span)
        }
    }
}
