internal import FeedConcurrency
internal import FeedJournal
internal import FeedReplica
internal import Synchronization

/// A node of a cluster whose directory has no state yet: it waits for one, marks the directory and ends.
///
/// Its next start puts the state in place, and follows. It says HELLO without a cluster, and nothing is
/// durable here. A replica that is elected meanwhile finds it silent, and gives the leadership away.
package final class WaitingNode: Sendable {
    private let options: ReplicaOptions
    private let events: ReplicaEvents
    private let wakeUp: ReplicaWakeUp
    private let installer: StateInstaller
    private let thread = NamedThread("feed-journal")
    private let stopping = Atomic(false)

    /// A node that is ready to be started, in a directory that this process has locked.
    package init(
        _ directory: StateDirectory,
        _ options: ReplicaOptions,
        _ events: ReplicaEvents
    ) throws(StateStartError) {
        self.options = options
        self.events = events
        let wakeUp: ReplicaWakeUp
        do throws(ReplicaError) {
            wakeUp = try ReplicaWakeUp()
        } catch {
            throw .storage(.stateStopped(reason: "\(error)"))
        }
        self.wakeUp = wakeUp
        installer = StateInstaller(directory) { wakeUp.wake() }
    }

    package func start() throws(StateStartError) {
        do throws(ThreadStartError) {
            try thread.start { [self] in run() }
        } catch {
            throw .storage(.thread(error))
        }
    }

    /// Ends the thread, and unlocks the directory; nothing is written there from here on.
    package func stop() {
        stopping.store(true, ordering: .releasing)
        wakeUp.wake()
        thread.join()
        installer.cancel()
        installer.unlock()
    }

    private func run() {
        var session = Session(options, events)
        while !stopping.load(ordering: .acquiring), turn(&session) {}
    }

    /// One turn; false at the end.
    private func turn(_ session: inout Session) -> Bool {
        do throws(ReplicaError) {
            if let ended = installer.takeEnd() {
                switch InstallOutcome(ended, session.record) {
                case .again(let words): session.lose(words)
                case .ends(let ending):
                    events.ended(ending)
                    return false
                }
            }
            try session.connectIfDue()
            while let word = try session.receive() {
                if case .install(let record, let path) = word {
                    session.record = record
                    installer.begin(record, from: path, of: session.cluster)
                } else if let ending = session.take(word) {
                    events.ended(ending)
                    return false
                }
            }
            session.askForStatusIfDue()
            try session.wait(orWake: wakeUp)
        } catch {
            session.lose("\(error)")
        }
        return true
    }
}

extension WaitingNode {
    /// The session with the replica, for the thread.
    private struct Session {
        private static let longestWait = Duration.milliseconds(250)

        private let options: ReplicaOptions
        private let events: ReplicaEvents
        private var connection: ReplicaConnection?
        private var connectTime = ContinuousClock.now
        private var statusTime = ContinuousClock.now
        private var newsTime = ContinuousClock.now
        private var request: UInt64 = 0
        private var leader: UInt64 = 0
        /// The cluster that the replica is of.
        private(set) var cluster = ClusterID.none
        /// The record of the state that was installed last.
        var record: UInt64 = 0

        init(_ options: ReplicaOptions, _ events: ReplicaEvents) {
            self.options = options
            self.events = events
        }

        mutating func connectIfDue() throws(ReplicaError) {
            guard connection == nil, .now >= connectTime else { return }
            let made = try ReplicaConnection(connectingTo: options.socketPath)
            let hello = ReplicaHello(
                applied: 0,
                levels: 1...UInt64(RecordHead.newestLevel),
                cluster: .none,
                address: options.address
            )
            made.send(.hello(hello))
            connection = made
            statusTime = .now
        }

        func receive() throws(ReplicaError) -> ReplicaWord? { try connection?.receive() }

        func wait(orWake wakeUp: ReplicaWakeUp) throws(ReplicaError) {
            guard let connection else { return try wakeUp.wait(upTo: Self.longestWait) }
            try connection.wait(upTo: Self.longestWait, orWake: wakeUp)
        }

        mutating func askForStatusIfDue() {
            guard connection != nil, .now >= statusTime else { return }
            statusTime = .now + StateInstaller.statusInterval
            request += 1
            connection?.send(.status(request: request))
        }

        mutating func lose(_ words: String) {
            connection = nil
            connectTime = .now + ReplicatedJournal.connectInterval
            guard .now >= newsTime else { return }
            newsTime = .now + .seconds(1)
            events.news(.disconnected(words))
        }

        /// Takes a word that is not INSTALL; gives why the process ends, where it does.
        mutating func take(_ word: ReplicaWord) -> ReplicaEnding? {
            switch word {
            case .welcome(let welcome):
                cluster = welcome.cluster
                leader = welcome.leader
                events.news(.connected(node: welcome.node, committed: welcome.committed))
            case .role(let role):
                leader = role.leads ? 0 : role.leader
                statusTime = .now
            case .statusIs(_, let json):
                guard let status = ReplicaStatus(json: json) else { break }
                events.status(status)
                events.role(.following(leader: status.address(of: leader)))
            case .tooOld(let first), .entry(let first, _, _, _): return withoutState(first)
            case .end(let reason, let text): return ended(reason, text)
            // COPY_WANTED is not answered: any word would be a sign of life, and this node cannot lead.
            case .committed, .refused, .readOK, .readNo, .heard, .added, .memberWanted, .copyDone,
                .copyWanted, .install:
                break
            }
            return nil
        }

        private func withoutState(_ first: UInt64) -> ReplicaEnding {
            ReplicaEnding(
                "This node has no state, and its replica has only the log from record \(first) on: "
                    + "replace this node.",
                exitStatus: 5
            )
        }

        private mutating func ended(_ reason: EndReason, _ text: String) -> ReplicaEnding? {
            let words = "the replica has ended the session: \(text)"
            if let ending = ReplicaEnding(reason, words) { return ending }
            lose(words)
            return nil
        }
    }
}
