internal import FeedConcurrency
package import FeedJournal
internal import FeedLog
internal import FeedRanking
internal import FeedReplica

/// What belongs to the thread of a ``ReplicatedJournal``: the journal, the session with the replica, and how
/// far the node is.
package struct ReplicatedNode: ~Copyable {
    enum Phase {
        /// There is no session; the socket is tried at a time.
        case connecting(at: ContinuousClock.Instant)
        case following
        case leading(term: UInt64)
        case ended
    }

    /// The words that are taken before other work.
    private static let wordCount = 64

    let owner: ReplicatedJournal
    let replica: ReplicaParts
    let logs: ChangeLogs
    let receiver: any CommitBatchReceiver
    let commits: CommitEvents
    private let failed: @Sendable (StorageError) -> Void

    /// What applies the records of the leader; nil once this node leads.
    private var live: LiveApply?
    var upkeep: JournalUpkeep
    /// The records up to the journal's last one, and with the proposals up to the last of those.
    var chain: RecordChain
    /// The time of the last one.
    var lastMicroseconds: UInt64

    var phase: Phase
    var connection: ReplicaConnection?
    var now = ContinuousClock.now
    /// Whether more words have come than were taken.
    private var hasWords = false
    private var durableTime = ContinuousClock.now
    private var statusTime = ContinuousClock.now
    /// When a leader without room gives the leadership away at the earliest.
    private var giveAwayTime = ContinuousClock.now
    private var newsTime = ContinuousClock.now
    /// Whether the last thing that was told of the session is that there is one.
    private var isToldConnected = false
    private var request: UInt64 = 0

    /// Who leads as far as this node knows, 0 for none, and what was said of it.
    private var leader: UInt64 = 0
    private var status: ReplicaStatus?
    private var told = NodeState.following(leader: nil)
    /// What the leader had committed at a moment, and this node has not: the oldest and the newest word.
    private var unheard: [(index: UInt64, microseconds: UInt64)] = []

    /// The level that all members read and records may name; 0 if that is not known.
    var commonLevel: UInt32 = 0
    var window = ProposalWindow()
    var spares: [[UInt8]] = []
    var nextBegin = ContinuousClock.now
    var nextRead = ContinuousClock.now
    var provenRound: UInt64 = 0
    private var isRestricted = false
    /// Whether the replica has refused a proposal as that of no leader: then ROLE says what follows.
    var awaitsRole = false
    var changes = MemberChanges()
    private var stopTime: ContinuousClock.Instant?
    /// The record of the state that takes the place of this one; nil if none does.
    private var installing: UInt64?

    init(
        _ owner: ReplicatedJournal,
        _ parts: CommitParts,
        _ replica: ReplicaParts,
        _ live: LiveApply
    ) {
        self.live = live
        self.owner = owner
        self.replica = replica
        logs = parts.logs
        receiver = parts.receiver
        commits = parts.events
        failed = parts.failed
        upkeep = JournalUpkeep(parts, owner.progress)
        chain = parts.chain
        lastMicroseconds = max(replica.lastMicroseconds, parts.chain.microseconds)
        phase = .connecting(at: .now)
    }

    var last: UInt64 { upkeep.journal.last.number }
}

// The loop.
extension ReplicatedNode {
    mutating func run() {
        do throws(StorageError) {
            while try turn(waitingUpTo: JournalUpkeep.spaceInterval) {}
        } catch {
            end()
            failed(error)
        }
        finish()
    }

    /// Makes durable what was appended, and ends the syncs.
    mutating func finish() {
        let wasEnded = isEnded
        end()
        replica.installer.cancel()
        do throws(StorageError) {
            try replica.sync.finish(upkeep.journal)
        } catch {
            // What has ended before has told why.
            if !wasEnded { failed(error) }
        }
    }

    /// One turn of the loop, and a wait for what comes next; false at its end.
    ///
    /// For tests without the thread, too.
    package mutating func turn(waitingUpTo longest: Duration) throws(StorageError) -> Bool {
        now = .now
        owner.heartBeat.beat()
        if owner.isStopping, mayStop() { return false }
        if installing != nil { endInstall() }
        switch phase {
        case .connecting(let time): if now >= time { connect() }
        case .following: if !isFull { try takeWords() }
        case .leading:
            try takeWords()
            try propose()
            askForProof()
        case .ended: return false
        }
        takeAsks()
        // Nothing is called after the end.
        guard !isEnded else { return false }
        try keepUp()
        wait(upTo: longest)
        return true
    }

    private var isEnded: Bool {
        if case .ended = phase { true } else { false }
    }

    private mutating func end(
        refusing words: String = "the service ends",
        isTransferred: Bool = false
    ) {
        phase = .ended
        connection = nil
        owner.closeAsks(words)
        changes.end(words, isTransferred: isTransferred)
        replica.copies.endAll()
    }

    /// Whether a leader has committed all that was logged, or had its time for it.
    private mutating func mayStop() -> Bool {
        guard case .leading = phase else { return true }
        let time = stopTime ?? now + ReplicatedJournal.longestStop
        stopTime = time
        return window.isEmpty && !logs.hasOpenEntry && changes.begun == nil || now >= time
    }

    /// What is done in each phase: the syncs, the disk's room, and the signs of life.
    private mutating func keepUp() throws(StorageError) {
        try replica.sync.advance(upkeep.journal, at: now)
        try upkeep.checkSpaceIfDue()
        isRestricted = upkeep.admit(committing: 0)
        guard connection != nil else { return }
        if now >= durableTime {
            durableTime = now + ReplicatedJournal.durableInterval
            // Who cannot lead is silent, so that a replica that is elected gives the leadership away.
            if installing == nil { say(.durable(replica.sync.syncedRecord)) }
        }
        if now >= statusTime { askForStatus() }
        sayCopies()
        giveAwayIfFull()
    }

    /// Gives the leadership to a node whose disk may have room: this one's has none, and refuses changes.
    ///
    /// A node that begins to lead like that waits, so that full ones do not pass it on all the time.
    private mutating func giveAwayIfFull() {
        guard case .leading = phase, !owner.progress.isWritable, now >= giveAwayTime else { return }
        giveAwayTime = now + ReplicatedJournal.giveAwayInterval
        request += 1
        for word in changes.transfer(to: 0, request: request) { say(word) }
    }

    /// Whether a follower has so much to checkpoint that it takes no more: what the replica says waits in the
    /// socket, and then in its log.
    private var isFull: Bool {
        guard case .following = phase else { return false }
        return receiver.backlog.share >= 1
    }

    private mutating func wait(upTo longest: Duration) {
        let time = min(longest, ContinuousClock.now.duration(to: nextTime))
        let longest = hasWords ? .zero : max(.zero, time)
        do throws(ReplicaError) {
            if isFull {
                try replica.wakeUp.wait(upTo: JournalUpkeep.admissionInterval)
            } else if let connection {
                try connection.wait(upTo: longest, orWake: replica.wakeUp)
            } else {
                try replica.wakeUp.wait(upTo: longest)
            }
        } catch {
            lose("\(error)")
        }
    }

    /// When something is to be done, if nothing comes before.
    private var nextTime: ContinuousClock.Instant {
        var next = now + JournalUpkeep.spaceInterval
        if let deadline = changes.deadline { next = min(next, deadline) }
        switch phase {
        case .connecting(let time): next = min(next, time)
        case .following: next = min(next, durableTime, statusTime)
        case .leading:
            next = min(next, durableTime, statusTime)
            if let proposalTime { next = min(next, proposalTime) }
            if owner.rounds.isAsked { next = min(next, nextRead) }
            if isRestricted { next = min(next, now + JournalUpkeep.admissionInterval) }
            if let stopTime { next = min(next, stopTime) }
        case .ended: next = now
        }
        return next
    }
}

// The session.
extension ReplicatedNode {
    private mutating func connect() {
        do throws(ReplicaError) {
            connection = try ReplicaConnection(connectingTo: replica.options.socketPath)
        } catch {
            return lose("\(error)")
        }
        say(
            .hello(
                ReplicaHello(
                    applied: last,
                    levels: 1...UInt64(chain.newestLevel),
                    cluster: replica.cluster,
                    address: replica.options.address
                )
            )
        )
        phase = .following
        hasWords = false
        unheard = []
        durableTime = now
        statusTime = now
    }

    func say(_ word: ServiceWord) { connection?.send(word) }

    /// There is no session any more.
    mutating func lose(_ words: String) {
        switch phase {
        case .leading: depose(.sessionLost(words))
        case .connecting, .following:
            connection = nil
            changes.end("the replica is not there: \(words)", isTransferred: false)
            replica.copies.endAll()
            phase = .connecting(at: now + ReplicatedJournal.connectInterval)
            tell(.disconnected(words))
        case .ended: break
        }
    }

    mutating func tell(_ news: ReplicaNews) {
        guard now >= newsTime else { return }
        newsTime = now + .seconds(1)
        if case .disconnected = news { isToldConnected = false }
        replica.events.news(news)
    }

    /// This node does not go on.
    private mutating func end(_ sentence: String, exitStatus: Int32 = 1) {
        end()
        replica.events.ended(ReplicaEnding(sentence, exitStatus: exitStatus))
    }

    /// This node does not lead any more: nothing that waits for a commit or a proof is released from here on.
    private mutating func depose(_ cause: Deposition.Cause) {
        var words = "this node does not lead any more"
        var leader: UInt64 = 0
        switch cause {
        case .otherTerm(_, let other) where other != 0: leader = other
        case .otherTerm, .majorityLost: words += ", and it is not known which one does"
        case .sessionLost: words += ": its replica has gone"
        }
        end(refusing: words, isTransferred: leader != 0)
        let deposition = Deposition(
            cause,
            proposedCount: window.proposals.count,
            waitingByteCount: logs.waitingByteCount
        )
        replica.events.deposed(deposition, status?.address(of: leader))
    }

    /// Takes a word, and more as long as the checkpoints take their records, and no sign of life is due.
    private mutating func takeWords() throws(StorageError) {
        hasWords = true
        for count in 0..<Self.wordCount {
            if count > 0, isFull || ContinuousClock.now >= durableTime { return }
            guard let word = nextWord() else {
                hasWords = false
                return
            }
            try take(word)
        }
    }

    /// The next word; nil where none has come, and where the session has ended.
    private mutating func nextWord() -> ReplicaWord? {
        do throws(ReplicaError) {
            return try connection?.receive()
        } catch {
            lose("\(error)")
            return nil
        }
    }

    private mutating func take(_ word: ReplicaWord) throws(StorageError) {
        switch word {
        case .welcome(let welcome): take(welcome)
        case .entry(let index, _, _, let body): try take(body, index)
        case .committed(let term, let index): try commit(through: index, term)
        case .role(let role): try take(role)
        case .refused(_, let index, let reason, let text): try refused(index, reason, text)
        case .readOK(let round): prove(round)
        case .readNo: _ = owner.rounds.ask()
        case .heard(let index, let microseconds): hear(index, microseconds)
        case .memberWanted(let change, let node): want(change, node)
        case .copyWanted(let request, let least): giveCopy(request, least)
        case .copyDone(let request): replica.copies.end(request)
        case .added(let index, let node, let token): changes.added(index, node: node, token: token)
        case .install(let index, let path): install(index, path)
        case .tooOld(let first):
            end(
                "This node has records up to \(last), and the cluster's log begins with record "
                    + "\(first): replace this node.",
                exitStatus: 5
            )
        case .statusIs(let request, let json): take(status: json, request)
        case .end(let reason, let text): ended(reason, text)
        }
    }

    private mutating func take(_ welcome: ReplicaWelcome) {
        guard welcome.cluster == replica.cluster else {
            return ended(.otherCluster, "the replica is of cluster \(welcome.cluster)")
        }
        leader = welcome.leader
        guard !isToldConnected else { return }
        isToldConnected = true
        replica.events.news(.connected(node: welcome.node, committed: welcome.committed))
    }

    private mutating func ended(_ reason: EndReason, _ text: String) {
        let words = "the replica has ended the session: \(text)"
        if case .leading = phase { return depose(.sessionLost(words)) }
        let isOther = reason == .otherCluster
        let named = isOther ? "The state is of cluster \(replica.cluster): \(words)" : words
        guard let ending = ReplicaEnding(reason, named) else { return lose(words) }
        end()
        replica.events.ended(ending)
    }
}

// Copies of the state, to other nodes and to this one.
extension ReplicatedNode {
    private mutating func giveCopy(_ request: UInt64, _ least: UInt64) {
        // Any word would be a sign of life, and this node cannot lead.
        guard installing == nil else { return }
        guard case .leading = phase else {
            return say(.noCopy(request: request, why: "the service does not lead yet"))
        }
        replica.copies.ask(request, least: least)
    }

    private mutating func sayCopies() {
        for word in replica.copies.takeWords() {
            say(word)
            if let news = ReplicaNews(of: word) { tell(news) }
        }
    }

    /// What this node needs next is forgotten: it goes on from a state that the replica has received.
    private mutating func install(_ index: UInt64, _ path: String) {
        guard case .following = phase, index > last else {
            return lose("INSTALL came of record \(index), and this node has record \(last)")
        }
        replica.installer.begin(index, from: path, of: replica.cluster, behind: chain.beginning)
        guard installing == nil else { return }
        installing = index
        replica.events.installing(index)
    }

    private mutating func endInstall() {
        guard let record = installing, let ended = replica.installer.takeEnd() else { return }
        switch InstallOutcome(ended, record) {
        case .again(let words):
            installing = nil
            lose(words)
        case .ends(let ending):
            end()
            replica.events.ended(ending)
        }
    }
}

// Who leads.
extension ReplicatedNode {
    private mutating func take(_ role: ReplicaRole) throws(StorageError) {
        leader = role.leader
        askForStatus()
        switch phase {
        case .leading(let term):
            if role.leads, role.term == term { return }
            guard role.term != term else { return depose(.majorityLost(term: term)) }
            depose(.otherTerm(role.term, leader: role.leads ? 0 : role.leader))
        case .following:
            if role.leads { try lead(role.term, after: role.index) } else { tellState() }
        case .connecting, .ended: break
        }
    }

    /// Begins to lead: all records before are applied, and the commit batches go on behind them.
    private mutating func lead(_ term: UInt64, after index: UInt64) throws(StorageError) {
        guard index == last else {
            return lose("ROLE came behind record \(last), expected behind record \(index)")
        }
        live.take()?.end()
        owner.progress.noteDurable(index)
        logs.begin(at: index + 1)
        // Before any change: no number that a leader before has given is given again.
        let counters = try replica.raiseCounters(behind: index)
        logs[0].transaction { logs[0].append(counters) }
        phase = .leading(term: term)
        let time = SystemClock.unixMicroseconds()
        if lastMicroseconds > time + ClockSteps.slack {
            replica.events.news(.clockIsBehind(microseconds: lastMicroseconds - time))
        }
        if !owner.progress.isWritable { giveAwayTime = now + ReplicatedJournal.giveAwayInterval }
        unheard = []
        commits.durable(index)
        tellState()
    }

    private mutating func tellState() {
        let state =
            switch phase {
            case .leading(let term): NodeState.leading(term: term)
            case .connecting, .following, .ended:
                NodeState.following(leader: status?.address(of: leader))
            }
        guard state != told else { return }
        told = state
        replica.events.role(state)
    }

    private mutating func askForStatus() {
        statusTime =
            now
            + (installing == nil ? ReplicatedJournal.statusInterval : StateInstaller.statusInterval)
        request += 1
        say(.status(request: request))
    }

    private mutating func take(status json: [UInt8], _ request: UInt64) {
        let status = ReplicaStatus(json: json)
        changes.take(status, request)
        guard let status else {
            return tell(.refused("STATUS_IS has another document than expected"))
        }
        self.status = status
        commonLevel = min(status.commonLevel, chain.newestLevel)
        replica.events.status(status)
        tellState()
    }
}

// What operators ask for.
extension ReplicatedNode {
    private mutating func takeAsks() {
        changes.expire(at: now)
        for asker in owner.takeAsks() {
            var role = MemberChanges.Role.alone
            switch phase {
            case .leading: role = .leading
            case .following: role = .following(leader: status?.address(of: leader))
            case .connecting, .ended: break
            }
            let words = changes.take(asker, role, request: request + 1)
            for word in words { say(word) }
            if !words.isEmpty { request += 1 }
        }
    }
}

// The records of a leader, and what a follower knows of it.
extension ReplicatedNode {
    /// Takes the next record: a follower all of them, a leader a change of the members.
    private mutating func take(_ body: [UInt8], _ index: UInt64) throws(StorageError) {
        guard index == last + 1 else {
            return lose("ENTRY came of record \(index), expected \(last + 1)")
        }
        if case .leading = phase {
            guard body.isEmpty, changes.end(at: index) else {
                return lose("ENTRY came of record \(index), which is this node's")
            }
        }
        var next = chain
        let head: RecordHead?
        do throws(RecordHeadError) {
            head = try next.take(body.span, record: index)
        } catch {
            guard error.isOfNewerProgram else { throw .head(error) }
            let remedy = "install the version of feed-service that the other nodes have."
            return end("\(error) Nothing is changed: \(remedy)", exitStatus: 4)
        }
        lastMicroseconds = max(lastMicroseconds, head?.microseconds ?? 0)
        let position = try upkeep.journal.append(
            body.span,
            count: head?.entryCount ?? 0,
            at: lastMicroseconds
        )
        try live?.apply(body.span, at: position, &chain)
        chain = next
        owner.chains.withLock { $0.append(index, next.hash) }
        owner.note(level: chain.level)
        _ = receiver.submit(body, at: position)
        owner.progress.noteDurable(index)
        try upkeep.forget()
        tellHeard()
    }

    /// Of the words in between nothing is kept: they come each 50 ms, and the oldest is reached first.
    private mutating func hear(_ index: UInt64, _ microseconds: UInt64) {
        guard case .following = phase else { return }
        if unheard.count > 1 { unheard.removeLast() }
        unheard.append((index, microseconds))
        tellHeard()
    }

    private mutating func tellHeard() {
        while let oldest = unheard.first, oldest.index <= last {
            unheard.removeFirst()
            replica.events.heard(oldest.index, oldest.microseconds)
        }
    }
}
