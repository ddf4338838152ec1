import FeedConcurrency
import FeedReplica
import FeedTestSupport

/// A connection of a service, and what it was told: the log in its order, as far as it is committed.
struct Connection: Sendable {
    let node: UInt64
    let wakeUp: ReplicaWakeUp
    var hello: ReplicaHello?
    /// Words beside the log.
    var words: [ReplicaWord] = []
    /// The last record that it has, or was told.
    var streamed: UInt64 = 0
    /// The last record that is on its way to it, or there: `streamed`, as of the turn before.
    var sent: UInt64 = 0
    /// Whether it was told that the log begins behind what it needs.
    var isStuck = false

    var term: UInt64 = 0
    var leads = false
    /// It is told that it leads behind this record.
    var leadFrom: UInt64 = 0
    var isToldLead = false
    /// Whether it was told that it does not lead any more.
    var isDeposed = false
    /// Bodies that were refused, and are to come again, by index.
    var refused: [UInt64: [UInt8]] = [:]
    var durable: UInt64 = 0
    var heardAt: UInt64 = 0

    var isEnded = false
    /// The last word; nil for a connection that is cut off.
    var notice: ReplicaWord?
}

struct Member: Sendable {
    var name: String
    var url: String
    var isVoter: Bool
}

/// What a connection says now, and what its loop does then.
struct Turn: Sendable {
    var words: [ReplicaWord] = []
    var isLast = false
    var longestWait = Duration.seconds(1)
}

/// All of a cluster, behind its lock: the log, who leads, and what each service was told.
struct ClusterState: Sendable {
    /// What a service may have on its way, as Sources/FeedState has it.
    static let windowCount = 4
    static let windowByteCount = 8 << 20

    let cluster: ClusterID
    let plan: FakePlan
    var faults: Set<FakeFault> = []
    private var random: SeededGenerator

    /// The records up to here are not in the log.
    private(set) var forgotten: UInt64
    private(set) var entries: [FakeEntry] = []
    private(set) var committed: UInt64
    var term: UInt64 = 0
    private(set) var leader: UInt64 = 0
    var members: [UInt64: Member] = [:]
    /// Where clients reach nodes that have no ``FakeReplica``.
    var addresses: [UInt64: String] = [:]
    /// A file with the state up to the forgotten records.
    var statePath: String?

    var connections: [Int: Connection] = [:]
    private var connectionCount = 0
    /// The connection of the service of each node.
    var sessions: [UInt64: Int] = [:]

    var isHeld = false
    var holdsReads = false
    var hearsByItself = true
    /// The turns until the next commit; nil if none is planned.
    private var turnsLeft: Int?
    /// The node that leads again with its next HELLO.
    private var returningNode: UInt64?
    private var pendingAdditions: [UInt64: (connection: Int, node: UInt64)] = [:]
    var heldReads: [(connection: Int, id: UInt64)] = []

    var violations: [String] = []
    var proposalCount = 0
    var refusalCount = 0
    var depositionCount = 0
    var copies: [UInt64: FakeCopy] = [:]
    /// The least record of each copy that was asked for and is not ended.
    var wantedCopies: [UInt64: UInt64] = [:]
    var transfers: [UInt64] = []

    init(_ cluster: ClusterID, behind last: UInt64, _ plan: FakePlan) {
        self.cluster = cluster
        self.plan = plan
        random = SeededGenerator(seed: plan.seed)
        forgotten = last
        committed = last
    }

    var last: UInt64 { forgotten + UInt64(entries.count) }

    func entry(_ index: UInt64) -> FakeEntry { entries[Int(index - forgotten - 1)] }

    // MARK: The log

    mutating func append(_ kind: EntryKind, _ body: [UInt8] = []) {
        entries.append(FakeEntry(index: last + 1, term: term, kind: kind, body: body))
    }

    mutating func commit(through index: UInt64) {
        precondition(index <= last, "Record \(index) is not in the log, which ends with \(last).")
        while committed < index {
            committed += 1
            guard let added = pendingAdditions.removeValue(forKey: committed) else { continue }
            let token = "token of \(added.node)"
            tell(added.connection, .added(index: committed, node: added.node, token: token))
        }
        turnsLeft = nil
    }

    /// Commits what the plan says; once in each turn of a replica's loop.
    mutating func commitByPlan() {
        guard !isHeld, committed < last else { return }
        guard plan.latestCommit > 0 else { return commit(through: last) }
        let left = turnsLeft ?? Int.random(in: 0...plan.latestCommit, using: &random)
        guard left == 0 else {
            turnsLeft = left - 1
            return
        }
        commit(through: UInt64.random(in: committed + 1...last, using: &random))
    }

    /// Begins a term with another leader, which keeps what is not committed or overwrites it.
    mutating func elect(_ node: UInt64, dropping drops: Bool) {
        if drops {
            entries.removeLast(Int(last - committed))
            pendingAdditions = [:]
        }
        let before = leader
        term += 1
        if before == node {
            // A leader begins another term as a follower.
            leader = 0
            for number in sessions.values { tellRole(number) }
        }
        leader = node
        if before != node, before != 0 { depositionCount += 1 }
        if node != 0 { append(.leaderBegins) }
        if !isHeld { commit(through: last) }
        refuseReads()
        for number in sessions.values { tellRole(number) }
    }

    mutating func forget(through index: UInt64, leaving path: String?) {
        precondition(index <= committed, "Record \(index) is not committed.")
        entries.removeFirst(Int(index - forgotten))
        forgotten = index
        statePath = path
    }

    // MARK: Connections

    mutating func open(_ node: UInt64, _ wakeUp: ReplicaWakeUp) -> Int {
        connectionCount += 1
        connections[connectionCount] = Connection(node: node, wakeUp: wakeUp)
        return connectionCount
    }

    mutating func close(_ number: Int) {
        guard let connection = connections.removeValue(forKey: number) else { return }
        if sessions[connection.node] == number { sessions[connection.node] = nil }
        heldReads.removeAll { $0.connection == number }
        pendingAdditions = pendingAdditions.filter { $0.value.connection != number }
    }

    /// Ends a connection with a last word, or cuts it off.
    mutating func end(_ number: Int, _ notice: ReplicaWord?) {
        guard let connection = connections[number], !connection.isEnded else { return }
        connections[number]?.isEnded = true
        connections[number]?.notice = notice
        if sessions[connection.node] == number { sessions[connection.node] = nil }
    }

    mutating func tell(_ number: Int, _ word: ReplicaWord) {
        connections[number]?.words.append(word)
    }

    private mutating func tellRole(_ number: Int) {
        guard var connection = connections[number] else { return }
        if connection.node == leader {
            connection.leads = true
            connection.isToldLead = false
            connection.term = term
            connection.leadFrom = last
        } else {
            connection.isDeposed = connection.isDeposed || connection.isToldLead
            connection.leads = false
            connection.isToldLead = false
            let role = ReplicaRole(leads: false, term: term, leader: leader, index: 0)
            connection.words.append(.role(role))
        }
        connection.refused = [:]
        connections[number] = connection
    }

    /// What is to be said now, at a moment of the clock of HEARD.
    mutating func take(_ number: Int, now microseconds: UInt64) -> Turn {
        guard var connection = connections[number] else { return Turn(isLast: true) }
        if connection.isEnded {
            return Turn(words: connection.notice.map { [$0] } ?? [], isLast: true)
        }
        defer { connections[number] = connection }
        connection.sent = connection.streamed
        var turn = Turn(words: connection.words)
        connection.words = []
        guard connection.hello != nil else { return turn }
        if hearsByItself, leader != 0, leader != connection.node {
            turn.longestWait = .microseconds(Int64(FakeCluster.hearingMicroseconds))
            if microseconds >= connection.heardAt + FakeCluster.hearingMicroseconds {
                connection.heardAt = microseconds
                turn.words.append(.heard(committed: committed, microseconds: microseconds))
            }
        }
        if faults.contains(.earlyRole) { sayRole(&connection, &turn.words) }
        stream(&connection, &turn.words)
        sayRole(&connection, &turn.words)
        // A commit that is late comes after some turns.
        if !isHeld, committed < last { turn.longestWait = .milliseconds(1) }
        return turn
    }

    private func sayRole(_ connection: inout Connection, _ words: inout [ReplicaWord]) {
        let isDue = connection.streamed >= connection.leadFrom || faults.contains(.earlyRole)
        guard connection.leads, !connection.isToldLead, isDue else { return }
        connection.isToldLead = true
        words.append(
            .role(
                ReplicaRole(
                    leads: true,
                    term: connection.term,
                    leader: leader,
                    index: connection.leadFrom
                )
            )
        )
    }

    private func stream(_ connection: inout Connection, _ words: inout [ReplicaWord]) {
        let end = faults.contains(.earlyCommitted) ? last : committed
        guard !connection.isStuck, connection.streamed < end else { return }
        guard connection.streamed >= forgotten else {
            connection.isStuck = true
            words.append(
                statePath.map { .install(index: forgotten, path: $0) }
                    ?? .tooOld(first: forgotten + 1)
            )
            return
        }
        var own: UInt64?
        for index in connection.streamed + 1...end {
            let entry = entry(index)
            connection.streamed = index
            if entry.kind == .batch, connection.isToldLead, entry.term == connection.term {
                own = index
                continue
            }
            if let index = own { words.append(.committed(term: connection.term, index: index)) }
            own = nil
            words.append(
                .entry(index: index, term: entry.term, entry.kind, body: entry.body)
            )
        }
        if let own { words.append(.committed(term: connection.term, index: own)) }
    }

    // MARK: What a service says

    mutating func handle(_ word: ServiceWord, _ body: [UInt8], of number: Int) {
        guard let connection = connections[number], !connection.isEnded else { return }
        switch word {
        case .status where faults.contains(.silent), .transfer where faults.contains(.silent): break
        case .status(let request):
            tell(number, .statusIs(request: request, json: Array(document(connection.node).utf8)))
        case .hello(let hello): self.hello(hello, number)
        case _ where sessions[connection.node] != number:
            violate(number, "HELLO has to come first, got \(word)")
        case .propose(let term, let index): propose(term, index, body, number)
        case .durable(let index): durable(index, number)
        case .read(let id): read(id, number)
        case .member(let term, let index, let change, let node, let text):
            changeMembers(term, index, (change, node, text), number)
        case .transfer(let node): transfer(node, number)
        case .copy(let request, let index, let path):
            if let least = wantedCopies[request], index < least || index > committed {
                return violate(
                    number,
                    "COPY is of record \(index), expected \(least) to \(committed)"
                )
            }
            copies[request] = .file(index: index, path: path)
        case .noCopy(let request, let why): copies[request] = .none(why: why)
        }
    }

    /// Notes what no service may do, and ends its connection.
    mutating func violate(_ number: Int, _ what: String) {
        violations.append(what)
        end(number, .end(.badFrame, text: what))
    }

    private mutating func hello(_ hello: ReplicaHello, _ number: Int) {
        guard let node = connections[number]?.node else { return }
        guard connections[number]?.hello == nil else {
            return violate(number, "HELLO came twice")
        }
        guard hello.version == ReplicaLimits.version else {
            let text = "version \(hello.version), expected \(ReplicaLimits.version)"
            return end(number, .end(.otherVersion, text: text))
        }
        guard hello.cluster == cluster || hello.cluster == .none && hello.applied == 0 else {
            let text = "the state is not of cluster \(cluster)"
            return end(number, .end(.otherCluster, text: text))
        }
        guard hello.applied <= committed else {
            return violate(
                number,
                "HELLO has record \(hello.applied), and \(committed) is committed"
            )
        }
        if let first = sessions[node] {
            end(first, .end(.replaced, text: "another service has come"))
        }
        sessions[node] = number
        connections[number]?.hello = hello
        connections[number]?.streamed = hello.applied
        connections[number]?.durable = hello.applied
        if returningNode == node {
            returningNode = nil
            // The roles of all sessions are told: this one's behind its WELCOME.
            sessions[node] = nil
            elect(node, dropping: false)
            sessions[node] = number
        }
        let welcome = ReplicaWelcome(
            node: node,
            term: term,
            leader: leader,
            committed: committed,
            last: last,
            cluster: cluster
        )
        tell(number, .welcome(welcome))
        tellRole(number)
    }

    private mutating func propose(
        _ term: UInt64,
        _ index: UInt64,
        _ body: [UInt8],
        _ number: Int
    ) {
        guard let connection = connections[number] else { return }
        proposalCount += 1
        if let same = connection.refused[index], same != body, term == self.term {
            return violate(number, "record \(index) was refused, and came again as another batch")
        }
        guard body.count <= ReplicaLimits.bodyByteCount else {
            return violate(number, "record \(index) has \(body.count) bytes")
        }
        guard accepts(term, index, body, number) else { return }
        append(.batch, body)
        connections[number]?.refused[index] = nil
        let told = connection.streamed
        let onTheirWay = entries.suffix(Int(last - told))
        let byteCount = onTheirWay.reduce(0) { $0 + $1.body.count }
        if onTheirWay.count > Self.windowCount
            || onTheirWay.count > 1 && byteCount > Self.windowByteCount
        {
            return violate(
                number,
                "\(onTheirWay.count) records of \(byteCount) bytes are on their way"
            )
        }
        haveAccident(number)
    }

    private mutating func haveAccident(_ number: Int) {
        if plan.deposesOneIn > 0, random.oneIn(plan.deposesOneIn) {
            returningNode = leader
            elect(FakeCluster.otherNode, dropping: random.oneIn(2))
        } else if plan.endsOneIn > 0, random.oneIn(plan.endsOneIn) {
            end(number, random.oneIn(2) ? .end(.stopping, text: "the replica stops") : nil)
        }
    }

    /// The fences, and the refusals of the plan.
    private mutating func accepts(
        _ term: UInt64,
        _ index: UInt64,
        _ body: [UInt8],
        _ number: Int
    ) -> Bool {
        guard let connection = connections[number] else { return false }
        var reason: RefusalReason?
        if connection.node != leader {
            // A word that crosses ROLE 0 is no fault, but one of a service that never led is.
            if !connection.isDeposed {
                violate(number, "record \(index) was proposed by a service that does not lead")
                return false
            }
            reason = .notLeader
        } else if term != self.term {
            reason = .otherTerm
        } else if connection.isDeposed {
            violate(number, "record \(index) was proposed by a service that was deposed")
            return false
        } else if !connection.isToldLead {
            violate(number, "record \(index) was proposed ahead of ROLE")
            return false
        } else if index != last + 1, !faults.contains(.noIndexFence) {
            if connection.refused.isEmpty {
                violate(number, "record \(index) was proposed, expected \(last + 1)")
                return false
            }
            reason = .otherIndex
        } else if plan.refusesOneIn > 0, random.oneIn(plan.refusesOneIn) {
            reason = [.otherIndex, .transferring, .tooMuchUncommitted].randomElement(using: &random)
        }
        guard let reason else { return true }
        connections[number]?.refused[index] = body
        refuse(number, (term, index), reason, "record \(index), and \(last) is the last one")
        return false
    }

    private mutating func refuse(
        _ number: Int,
        _ place: (term: UInt64, index: UInt64),
        _ reason: RefusalReason,
        _ text: String
    ) {
        refusalCount += 1
        tell(number, .refused(term: place.term, index: place.index, reason, text: text))
    }

    private mutating func durable(_ index: UInt64, _ number: Int) {
        guard let connection = connections[number] else { return }
        guard index <= connection.streamed else {
            return violate(number, "DURABLE has record \(index), told is \(connection.streamed)")
        }
        // What a service has when it comes, it may not have on its disk.
        connections[number]?.durable = index
    }

    private mutating func read(_ id: UInt64, _ number: Int) {
        guard let connection = connections[number] else { return }
        if connection.node != leader {
            tell(number, .readNo(id))
        } else if holdsReads {
            heldReads.append((number, id))
        } else {
            tell(number, .readOK(id))
        }
    }

    private mutating func refuseReads() {
        for (number, id) in heldReads { tell(number, .readNo(id)) }
        heldReads = []
    }

    mutating func answerReads() {
        for (number, id) in heldReads { tell(number, .readOK(id)) }
        heldReads = []
    }

    // MARK: Members

    private mutating func changeMembers(
        _ term: UInt64,
        _ index: UInt64,
        _ what: (change: MemberChange, node: UInt64, text: String),
        _ number: Int
    ) {
        guard committed == last || connections[number]?.node != leader else {
            return violate(number, "MEMBER came with \(last - committed) records on their way")
        }
        guard accepts(term, index, [], number) else { return }
        var node = what.node
        let parts = what.text.split(separator: "\n", omittingEmptySubsequences: false)
        let isPossible =
            switch what.change {
            case .add: parts.count == 2
            case .promote: members[node]?.isVoter == false
            case .remove: members[node] != nil && node != leader
            }
        guard isPossible else {
            return refuse(number, (term, index), .badMemberChange, "the change cannot be")
        }
        switch what.change {
        case .add:
            node = (members.keys.max() ?? 0) + 1
            members[node] = Member(name: String(parts[0]), url: String(parts[1]), isVoter: false)
            pendingAdditions[index] = (number, node)
        case .promote: members[node]?.isVoter = true
        case .remove: members[node] = nil
        }
        append(.memberChange)
    }

    private mutating func transfer(_ node: UInt64, _ number: Int) {
        transfers.append(node)
        let others = sessions.keys.filter { $0 != leader && (node == 0 || $0 == node) }
        guard connections[number]?.node == leader, let next = others.min() else {
            return refuse(number, (term, 0), .badTransfer, "no such node is connected")
        }
        elect(next, dropping: false)
    }

    // MARK: Status

    private func document(_ node: UInt64) -> String {
        func hexadecimal(_ number: UInt64) -> String {
            let digits = String(number, radix: 16)
            return "\"" + String(repeating: "0", count: 16 - digits.count) + digits + "\""
        }
        let connection = sessions[node].flatMap { connections[$0] }
        let list = members.sorted { $0.key < $1.key }.map { each, member in
            var text = """
                {"node":\(hexadecimal(each)),"name":"\(member.name)","url":"\(member.url)",\
                "voter":\(member.isVoter),"connected":true
                """
            if let hello = sessions[each].flatMap({ connections[$0]?.hello }) {
                text += """
                    ,"service":{"address":"\(hello.address)","lowest_level":\(hello.levels.lowerBound),\
                    "highest_level":\(hello.levels.upperBound)},"service_age_seconds":0
                    """
            }
            if let address = addresses[each] {
                text += ",\"service\":{\"address\":\"\(address)\"},\"service_age_seconds\":0"
            }
            return text + "}"
        }
        return """
            {"node":\(hexadecimal(node)),"name":"\(members[node]?.name ?? "")","cluster":"\(cluster)",\
            "role":"\(leader == node ? "leader" : leader == 0 ? "searching" : "follower")",\
            "term":\(term),"leader":\(hexadecimal(leader)),"first":\(forgotten + 1),"last":\(last),\
            "committed":\(committed),"durable":\(connection?.durable ?? 0),\
            "log_bytes":\(entries.reduce(0) { $0 + $1.body.count }),"has_service":\(connection != nil),\
            "heard_age_seconds":\(leader == node ? "-1" : "0"),"copies":0,"window":\(last - committed),\
            "members":[\(list.joined(separator: ","))],"removed":[]}
            """
    }
}
