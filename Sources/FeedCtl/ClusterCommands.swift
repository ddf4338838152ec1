internal import ArgumentParser
internal import FeedClient
internal import FeedConcurrency
package import FeedProto
internal import FeedText

struct ClusterCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cluster",
        abstract: "Shows and changes the nodes of a cluster.",
        discussion: """
            --target names one of its services, or several with commas between them. Changes go to the leader, \
            wherever it is. They take the key of an operator where the services have keys.
            """,
        subcommands: [
            ClusterStatusCommand.self, ClusterAddCommand.self, ClusterRemoveCommand.self,
            ClusterTransferCommand.self, ClusterVerifyCommand.self,
        ]
    )
}

struct ClusterStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows who belongs to the cluster, who leads and who lags.",
        discussion: """
            The leader is asked if it can be reached, as only it knows who lags; else the first service that \
            answers, also one without a leader.
            """
    )

    @OptionGroup var options: ServiceOptions

    func run() async throws {
        let known = try await ClusterReach(options).cluster()
        try ClusterStatusReport(known.status).print(asJSON: options.json)
    }
}

struct ClusterAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Adds a node, and prints the token with which it joins.",
        discussion: """
            The node learns at first, and votes once it is less than a second behind. Its number is in the \
            token: it is never that of a node before it.
            """
    )

    @Argument(help: "The node's name: letters, digits, dots, dashes and underscores.")
    var name: String

    @Argument(help: "Where the other replicas will reach it, as https://HOST:PORT.")
    var url: String

    @OptionGroup var options: ServiceOptions

    func run() async throws {
        let request = ChangeMembersRequest(addName: name, addURL: url)
        let reach = try ClusterReach(options)
        let answer = try await reach.change(request, try await reach.cluster())
        try AddedNodeReport(answer, name: name, url: url).print(asJSON: options.json)
    }
}

struct ClusterRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Removes a node for good.",
        discussion: """
            A majority of the voters that stay has to be connected. The leader is not removed: transfer the \
            leadership first.
            """
    )

    @Argument(help: ArgumentHelp("The node's name or number.", valueName: "name"))
    var node: String

    @OptionGroup var options: ServiceOptions

    func run() async throws {
        let reach = try ClusterReach(options)
        let known = try await reach.cluster()
        let member = try known.status.member(named: node)
        _ = try await reach.change(ChangeMembersRequest(removeNode: member.node), known)
        try Sentence.removed(member, from: known.status).print(asJSON: options.json)
    }
}

struct ClusterTransferCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfer",
        abstract: "Gives the leadership to another node, and waits until that one leads.",
        discussion: """
            Clients go on at the new leader; the service that led starts again, to follow. This command ends \
            with 3 if another node leads then than was named.
            """
    )

    @Argument(
        help: ArgumentHelp(
            "The node's name or number; without it, any other one that votes.",
            valueName: "name"
        )
    )
    var node: String?

    @OptionGroup var options: ServiceOptions

    func run() async throws {
        let reach = try ClusterReach(options)
        let known = try await reach.cluster()
        let wanted = try node.map { try known.status.member(named: $0) }
        if let wanted, wanted.node == known.status.leader, known.isOfLeader {
            return try LeaderReport(wanted, term: known.status.term, wanted: wanted)
                .print(asJSON: options.json)
        }
        let failure = try await reach.transfer(to: wanted?.node ?? "", known)
        let found = await reach.newLeader(after: known)
        guard let found,
            let leader = found.status.members.first(where: { $0.node == found.status.node })
        else {
            if let failure { throw failure }
            throw ClusterFailure.notMoved(known.status.leaderName)
        }
        try LeaderReport(leader, term: found.status.term, wanted: wanted)
            .print(asJSON: options.json)
    }
}

struct ClusterVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Asks all nodes for their log up to one record, and says whether it is the same.",
        discussion: """
            Each node's service is asked for the chain of the newest record that all have: a hash over all \
            records before it. Ends with 3 if a node has another one, or was not asked.
            """
    )

    @OptionGroup var options: ServiceOptions

    func run() async throws {
        let report = try await ClusterReach(options).verify()
        try report.print(asJSON: options.json)
    }
}

/// The services of a cluster, each of which is asked by itself.
struct ClusterReach {
    /// A status, and the address where it was asked for.
    struct Known {
        let status: ClusterStatus
        let address: String
        /// Whether the service takes changes: it does so soon after its node leads.
        let takesChanges: Bool

        var isOfLeader: Bool { status.role == "leader" }
    }

    /// How long a transfer and a comparison may take after their first answer.
    private static let patience = Duration.seconds(5)
    private static let interval = Duration.milliseconds(100)
    /// The leader waits 10 s for its cluster.
    private static let changeSeconds = 15.0

    private let settings: TargetSettings
    private let configuration: ClientConfiguration
    private let changeTimeout: Duration

    init(_ options: ServiceOptions) throws {
        settings = try options.target.settings()
        var configuration = try options.configuration
        configuration.reads = .any
        configuration.staysAtAddresses = true
        // Each service is asked alone: if one is down, the next one is asked at once.
        configuration.waitsForService = false
        self.configuration = configuration
        changeTimeout = options.timeout.duration(default: Self.changeSeconds)
    }

    // MARK: One service

    /// Asks a service, within a time that is the command's unless another one is given.
    private func ask(
        _ address: String,
        record: UInt64 = 0,
        within time: Duration? = nil
    ) async throws -> Known {
        var configuration = configuration
        configuration.timeout = time ?? configuration.timeout
        configuration.connectTimeout = configuration.timeout
        return try await FeedClient.withConnection(to: [address], configuration) { client in
            Known(
                status: try await client.clusterStatus(record: record),
                address: address,
                takesChanges: client.service?.role == .leader
            )
        }
    }

    /// The address of a member's service, if it is known and what is sent may go there.
    private func address(of member: MemberStatus) throws(ClusterFailure) -> String {
        guard !member.address.isEmpty else { throw .noAddress(member.name) }
        let isElsewhere = TargetSettings(target: member.address).isReadable
        guard !settings.staysAtAddresses || !isElsewhere else {
            throw .unsecured(member.name, member.address)
        }
        return member.address
    }

    // MARK: The cluster

    /// The cluster as its leader knows it; if that cannot be asked, as the first service that answers.
    ///
    /// All of them share the time of a call.
    func cluster() async throws -> Known {
        let end = ContinuousClock.now + configuration.timeout
        var failure: any Error = ClusterFailure.noAddresses
        for (place, address) in settings.addresses.enumerated() {
            let time = Self.share(until: end, of: settings.addresses.count - place)
            do {
                let known = try await ask(address, within: time)
                return await leader(namedBy: known, within: end - .now) ?? known
            } catch {
                failure = Self.named(error)
            }
        }
        throw failure
    }

    /// What the next one of several calls may take of their time.
    private static func share(until end: ContinuousClock.Instant, of count: Int) -> Duration {
        .milliseconds(((end - .now) / count).millisecondsRoundedUp)
    }

    /// What the leader says that a service names; nil if it names none, or that one does not answer.
    private func leader(namedBy known: Known, within time: Duration) async -> Known? {
        guard !known.isOfLeader,
            let member = known.status.members.first(where: { $0.node == known.status.leader }),
            let address = try? address(of: member),
            let found = try? await ask(address, within: time), found.isOfLeader
        else { return nil }
        return found
    }

    /// Makes a change of the members, at the leader.
    func change(
        _ request: ChangeMembersRequest,
        _ known: Known
    ) async throws -> ChangeMembersResponse {
        let address = try leaderAddress(known)
        let timeout = changeTimeout
        do {
            return try await FeedClient.withConnection(to: [address], configuration) { client in
                try await client.changeMembers(request, timeout: timeout)
            }
        } catch {
            throw Self.named(error)
        }
    }

    private func leaderAddress(_ known: Known) throws(ClusterFailure) -> String {
        guard known.isOfLeader else {
            throw .noLeader(asked: known.status.name, leader: known.status.leaderName)
        }
        return known.address
    }

    /// Asks the leader to give the leadership away; returns the error of an answer that did not come.
    func transfer(to node: String, _ known: Known) async throws -> FeedClientError? {
        let address = try leaderAddress(known)
        let timeout = changeTimeout
        do {
            try await FeedClient.withConnection(to: [address], configuration) { client in
                try await client.transferLeadership(to: node, timeout: timeout)
            }
            return nil
        } catch let error as FeedClientError {
            // The leadership may have gone before the answer.
            if error.effect == .unknown { return error }
            throw Self.named(error)
        }
    }

    /// Asks the other services until one leads a later term; nil if none does in time.
    func newLeader(after known: Known) async -> Known? {
        let end = ContinuousClock.now + Self.patience
        var addresses: [String] = []
        for member in known.status.members {
            if let address = try? address(of: member) { addresses.append(address) }
        }
        for address in settings.addresses where !addresses.contains(address) {
            addresses.append(address)
        }
        while ContinuousClock.now < end {
            for address in addresses {
                guard let found = try? await ask(address), found.isOfLeader else { continue }
                let isElsewhere = found.status.node != known.status.node
                if isElsewhere, found.takesChanges, found.status.term > known.status.term {
                    return found
                }
            }
            try? await Task.sleep(for: Self.interval)
        }
        return nil
    }

    // MARK: Verify

    /// Compares the logs of all nodes at the newest record that all have.
    func verify() async throws -> VerifyReport {
        let known = try await cluster()
        let end = ContinuousClock.now + Self.patience
        while true {
            let report = await compare(known.status)
            // A node that has just started knows the chains of its newest records only.
            guard report.hasUnknownChains, ContinuousClock.now < end else { return report }
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Asks each node twice; all of them share the time of a call, each time.
    private func compare(_ cluster: ClusterStatus) async -> VerifyReport {
        var report = VerifyReport()
        let count = cluster.members.count
        var end = ContinuousClock.now + configuration.timeout
        for (place, member) in cluster.members.enumerated() {
            var row = VerifyReport.Row(member)
            do {
                let time = Self.share(until: end, of: count - place)
                let answer = try await ask(member, of: cluster, within: time)
                row.newest = answer.record
            } catch {
                row.failure = "\(Self.named(error))"
            }
            report.rows.append(row)
        }
        report.record = report.rows.filter(\.wasAsked).map(\.newest).min() ?? 0
        end = .now + configuration.timeout
        for place in report.rows.indices where report.rows[place].wasAsked && report.record != 0 {
            let member = report.rows[place].member
            do {
                let time = Self.share(until: end, of: count - place)
                let answer = try await ask(
                    member,
                    of: cluster,
                    record: report.record,
                    within: time
                )
                report.rows[place].chain = answer.record == report.record ? answer.chain : nil
            } catch {
                report.rows[place].failure = "\(Self.named(error))"
            }
        }
        return report
    }

    /// Asks a member's service, and refuses the answer of another one.
    private func ask(
        _ member: MemberStatus,
        of cluster: ClusterStatus,
        record: UInt64 = 0,
        within time: Duration
    ) async throws -> ClusterStatus {
        let address = try address(of: member)
        let answer = try await ask(address, record: record, within: time).status
        guard answer.cluster == cluster.cluster, answer.node == member.node else {
            throw ClusterFailure.otherNode(member.name, address, answer.name)
        }
        return answer
    }

    private static func named(_ error: any Error) -> any Error {
        guard let error = error as? FeedClientError else { return error }
        return error.naming(
            identityFlags: "--service-key-file",
            keyFlag: "--service-key-file"
        )
    }
}

/// Why a command about a cluster was not done.
package enum ClusterFailure: Error, Equatable, CustomStringConvertible {
    case noAddresses
    /// No service leads, or the one that does was not reached.
    case noLeader(asked: String, leader: String)
    case unknownMember(String, names: [String])
    /// A member whose service has not said where clients reach it.
    case noAddress(String)
    /// A member's service on another machine, to which nothing goes that is not secured.
    case unsecured(String, String)
    /// Another node answers at a member's address.
    case otherNode(String, String, String)
    /// No other node has become leader in time.
    case notMoved(String)

    package var description: String {
        switch self {
        case .noAddresses: "There is no address to connect to."
        case .noLeader(let asked, ""):
            "Node \(asked) knows of no leader: a majority of the voters has to be connected."
        case .noLeader(let asked, let leader):
            "Node \(asked) names \(leader) as the leader, and that one's service was not reached or does not "
                + "lead yet."
        case .unknownMember(let name, let names):
            "No node of the cluster is named \(name), or has that number; there are "
                + "\(names.joined(separator: ", "))."
        case .noAddress(let name):
            "It is not known where the service of \(name) is: its feed-service has not been heard of, or has "
                + "no --advertise."
        case .unsecured(let name, let address):
            "The service of \(name) is on another machine, at \(address), and the connection is not secured: "
                + "give --tls, or --no-tls if others may read it."
        case .otherNode(let name, let address, let answering):
            "The service of \(name) should be at \(address), and the one of \(answering) answers there: "
                + "correct --advertise."
        case .notMoved(let leader):
            "No other node has begun to lead within 5 s; the leader was \(leader). See feedctl cluster status."
        }
    }
}

extension ClusterStatus {
    /// The name of the node that leads; empty if none is known.
    var leaderName: String { members.first { $0.node == leader }?.name ?? leader }

    /// The member with a name or a number.
    package func member(named text: String) throws(ClusterFailure) -> MemberStatus {
        let member = members.first { $0.name == text } ?? members.first { $0.node == text }
        guard let member else { throw .unknownMember(text, names: members.map(\.name)) }
        return member
    }
}

/// The cluster as a node knows it.
package struct ClusterStatusReport: Report {
    private let status: ClusterStatus

    package init(_ status: ClusterStatus) { self.status = status }

    package var document: Document {
        [
            "node": status.node, "name": status.name, "cluster": status.cluster,
            "role": status.role, "term": status.term, "leader": status.leader,
            "first_record": status.firstRecord, "last_record": status.lastRecord,
            "committed_record": status.committedRecord, "durable_record": status.durableRecord,
            "log_byte_count": status.logByteCount, "heard_age_ms": status.heardAgeMilliseconds,
            "copy_count": status.copyCount, "record": status.record,
            "chain": hexadecimal(status.chain), "members": status.members.map(document(of:)),
        ]
    }

    private func document(of member: MemberStatus) -> Document {
        [
            "node": member.node, "name": member.name, "url": member.url,
            "is_voter": member.isVoter, "is_connected": member.isConnected,
            "address": member.address, "lowest_level": member.lowestLevel,
            "highest_level": member.highestLevel,
            "service_age_ms": member.serviceAgeMilliseconds, "record": member.matchingRecord,
            "state": member.state, "lag_byte_count": member.lagByteCount,
            "lag_ms": member.lagMilliseconds, "is_service_gone": member.isServiceGone,
        ]
    }

    package func text(_ style: TextStyle) -> String {
        var fields = FieldList()
        fields.add("asked", "\(status.name), node \(status.node): \(status.role)")
        let leader = status.leader.isEmpty ? "none is known" : status.leaderName
        fields.add("leader", "\(leader), term \(status.term)")
        if status.heardAgeMilliseconds >= 0 {
            fields.add("heard of it", "\(status.heardAgeMilliseconds) ms ago")
        }
        fields.add(
            "log",
            "records \(status.firstRecord) to \(status.lastRecord), committed "
                + "\(status.committedRecord), on the service's disk \(status.durableRecord); "
                + "\(status.logByteCount) bytes"
        )
        if status.record != 0 {
            fields.add("newest record", "\(status.record), chain \(hexadecimal(status.chain))")
        }
        if status.copyCount > 0 { fields.add("copies", "\(status.copyCount)") }
        return fields.rendered() + "\n" + table.rendered(style)
    }

    private var table: TextTable {
        let isOfLeader = status.role == "leader"
        var columns: [TextColumn<MemberStatus>] = [
            .text("NAME", \.name), .text("NODE", \.node),
            .text("ROLE") { [leader = status.leader] member in
                member.node == leader ? "leads" : member.isVoter ? "follows" : "learns"
            },
            .text("CONNECTED") { $0.isConnected ? "yes" : "no" },
            .text("SERVICE") { $0.address.isEmpty ? "not known" : $0.address },
            .text("LEVELS") { member in
                let (lowest, highest) = (member.lowestLevel, member.highestLevel)
                return highest == 0
                    ? "-" : lowest == highest ? "\(highest)" : "\(lowest)-\(highest)"
            },
            .number("HEARD MS") { member in
                let isKnown = member.highestLevel != 0
                return member.isServiceGone
                    ? "gone" : isKnown ? "\(member.serviceAgeMilliseconds)" : "-"
            },
        ]
        if isOfLeader {
            columns.append(.number("LAG BYTES") { $0.isConnected ? "\($0.lagByteCount)" : "-" })
            columns.append(.number("LAG MS") { $0.isConnected ? "\($0.lagMilliseconds)" : "-" })
        }
        columns.append(.text("URL", \.url))
        return TextTable(status.members, columns)
    }
}

/// A node that was added, and how it joins.
package struct AddedNodeReport: Report {
    private let answer: ChangeMembersResponse
    private let name: String
    private let url: String

    package init(_ answer: ChangeMembersResponse, name: String, url: String) {
        self.answer = answer
        self.name = name
        self.url = url
    }

    package var document: Document {
        ["node": answer.node, "name": name, "url": url, "token": answer.token]
    }

    package func text(_ style: TextStyle) -> String {
        """
        Added \(VisibleText.line(name)) as node \(VisibleText.line(answer.node)). It learns, and votes once it is \
        less than a second behind.
        Type on its machine, where feed-replica.yaml has its name and addresses:
          feed-replica join \(VisibleText.line(answer.token)) --config feed-replica.yaml
        Then start feed-replica and feed-service there.

        """
    }
}

extension Sentence {
    package static func removed(_ member: MemberStatus, from status: ClusterStatus) -> Sentence {
        let rest = status.members.filter { $0.node != member.node }
        let voterCount = rest.count(where: \.isVoter)
        return Sentence(
            "Removed \(VisibleText.line(member.name)), node \(VisibleText.line(member.node)): its feed-replica "
                + "ends, and never comes back as that node. The cluster has \(rest.count) nodes, "
                + "\(voterCount) of them vote.",
            [
                "node": member.node, "name": member.name, "member_count": rest.count,
                "voter_count": voterCount,
            ]
        )
    }
}

/// Who leads after a transfer.
package struct LeaderReport: Report {
    private let leader: MemberStatus
    private let term: UInt64
    private let wanted: MemberStatus?

    package init(_ leader: MemberStatus, term: UInt64, wanted: MemberStatus?) {
        self.leader = leader
        self.term = term
        self.wanted = wanted
    }

    package var isDone: Bool { wanted.map { $0.node == leader.node } ?? true }

    package var document: Document {
        [
            "node": leader.node, "name": leader.name, "address": leader.address, "term": term,
            "is_wanted": isDone,
        ]
    }

    package func text(_ style: TextStyle) -> String {
        let name = VisibleText.line(leader.name)
        let place =
            "Leadership is at \(name), node \(VisibleText.line(leader.node)), in term \(term)"
        guard let wanted, !isDone else { return place + ".\n" }
        return place + ", and not at \(VisibleText.line(wanted.name)).\n"
    }
}

/// The chains of all nodes at one record.
package struct VerifyReport: Report {
    package struct Row: Sendable {
        package let member: MemberStatus
        /// The newest record of the node; 0 if it was not asked.
        package var newest: UInt64 = 0
        /// The chain of the record that is compared; nil if the node does not have it.
        package var chain: UInt64?
        /// Why the node was not asked; empty if it was.
        package var failure = ""

        package init(_ member: MemberStatus) { self.member = member }

        var wasAsked: Bool { failure.isEmpty }
    }

    package var rows: [Row] = []
    /// The newest record that all have; 0 if none was asked.
    package var record: UInt64 = 0

    package init() {}

    var hasUnknownChains: Bool { rows.contains { $0.wasAsked && $0.chain == nil } }

    /// The chain that most nodes have; nil if no other one has fewer, but not all are the same.
    private var commonChain: UInt64? {
        var counts: [UInt64: Int] = [:]
        for case let chain? in rows.map(\.chain) { counts[chain, default: 0] += 1 }
        let most = counts.values.max() ?? 0
        let common = counts.filter { $0.value == most }
        return common.count == 1 ? common.first?.key : nil
    }

    package var isDone: Bool {
        guard let common = commonChain else { return false }
        return rows.allSatisfy { $0.chain == common }
    }

    private func result(of row: Row) -> String {
        guard row.wasAsked else { return "not asked: \(row.failure)" }
        guard let chain = row.chain else { return "does not have the chain of the record any more" }
        guard let common = commonChain else { return "differs" }
        return chain == common ? "equal" : "differs"
    }

    package var document: Document {
        [
            "record": record, "is_equal": isDone,
            "members": rows.map { row -> Document in
                [
                    "node": row.member.node, "name": row.member.name, "newest_record": row.newest,
                    "chain": row.chain.map(hexadecimal) ?? "", "result": result(of: row),
                ]
            },
        ]
    }

    package func text(_ style: TextStyle) -> String {
        let table = TextTable(
            rows,
            [
                .text("NAME") { $0.member.name }, .text("NODE") { $0.member.node },
                .number("NEWEST") { "\($0.newest)" },
                .text("CHAIN") { $0.chain.map(hexadecimal) ?? "" },
                .text("RESULT", result(of:)),
            ]
        )
        return table.rendered(style) + "\n" + verdict
    }

    private var verdict: String {
        if isDone { return "All nodes have the same log up to record \(record).\n" }
        let differing = rows.filter { result(of: $0) == "differs" }.map(\.member.name)
        guard differing.isEmpty else {
            let names = VisibleText.line(differing.joined(separator: ", "))
            return
                "The logs differ at record \(record): \(names). See OPERATIONS.md, and keep the directories.\n"
        }
        return "Not all nodes could be compared.\n"
    }
}

/// A number as its 16 digits.
func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
