import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Foundation

/// A device of a history: its file, its network and its session.
final class HistoryDevice {
    enum Network {
        case on, off
        /// Connections are lost, before or after the service has executed what was sent.
        case lossy
    }

    let number: Int
    let network = Locked(Network.on)
    private var opened: OfflineFeed?
    /// The feed, once the device was opened.
    var feed: OfflineFeed {
        guard let opened else { preconditionFailure("A device is opened first.") }
        return opened
    }
    private let seed: UInt64
    private let person: Person
    private let feeds: [String]
    private let keeps: KeptPosts
    private let fault: HistoryFault?
    private let random: Locked<SeededGenerator>
    private var fileNumber = 0

    init(
        _ number: Int,
        _ seed: UInt64,
        _ person: Person,
        _ feeds: [String],
        _ keeps: KeptPosts,
        _ fault: HistoryFault?
    ) {
        self.number = number
        self.seed = seed
        self.person = person
        self.feeds = feeds
        self.keeps = keeps
        self.fault = fault
        random = Locked(SeededGenerator(seed: seed << 8 | UInt64(number)))
        toggleSession()
    }

    private var name: String { "\(fault.map { "\($0)" } ?? "h")-\(seed)-\(number)" }
    private var path: String { person.service.path("\(name)-\(fileNumber).db") }
    private var sessions: FileSessionStore {
        FileSessionStore(path: person.service.path("\(name).session"))
    }

    var isSignedIn: Bool { sessions.load() != nil }

    func toggleSession() {
        if isSignedIn { sessions.remove() } else { sessions.save(person.sessions[number]) }
    }

    func open() async throws {
        var configuration = person.service.configuration()
        configuration.path = path
        configuration.feeds = feeds
        configuration.keeps = keeps
        configuration.client.sessionStore = sessions
        let (network, random, fault) = (self.network, self.random, self.fault)
        let address = person.service.address
        let feed = try await OfflineFeed.open(
            configuration,
            wrapping: { LossyOutbox(file: $0, random: random, network: network, fault: fault) },
            waiting: { _ in },
            connecting: { configuration throws(FeedClientError) in
                guard network.withLock({ $0 }) != .off else {
                    throw .cannotConnect(reason: "off")
                }
                let client = try await FeedClient.connect(
                    to: address,
                    configuration: configuration
                )
                return LossyClient(client: client, network: network, random: random, fault: fault)
            }
        )
        opened = feed
        if let notice = feed.notice { throw Unexpected("\(notice)") }
    }

    func outbox() async throws -> [OutboxEntry] { try await feed.outbox() }

    func close() async { await feed.close() }

    /// Syncs, and starts the program anew if it was killed meanwhile.
    func sync() async throws {
        do throws(OfflineError) {
            try await feed.sync()
        } catch {
            switch error {
            case .service where network.withLock({ $0 }) != .on: break
            case .file: try await kill()
            default: throw error
            }
        }
    }

    /// Ends the program without a word, and starts it again with the file as it is then.
    func kill() async throws {
        let before = path
        fileNumber += 1
        let files = FileManager.default
        try files.copyItem(atPath: before, toPath: path)
        if files.fileExists(atPath: before + "-wal") {
            try files.copyItem(atPath: before + "-wal", toPath: path + "-wal")
        }
        await feed.close()
        try await open()
    }
}

/// An outbox whose program is killed now and then before it has kept an answer.
private struct LossyOutbox: OutboxFile {
    let file: any OutboxFile
    let random: Locked<SeededGenerator>
    let network: Locked<HistoryDevice.Network>
    let fault: HistoryFault?

    func numberNext(of userID: UserID) throws(OfflineError) -> [NumberedEntry] {
        let entries = try file.numberNext(of: userID)
        if fault == .lost { try file.settle(entries.suffix(1).map { ($0.number, .gone) }) }
        return fault == .lost ? Array(entries.dropLast()) : entries
    }

    func settle(_ outcomes: [(number: UInt64, outcome: OutboxOutcome)]) throws(OfflineError) {
        if network.withLock({ $0 }) == .lossy, random.withLock({ $0.oneIn(4) }) {
            throw .file(reason: "killed")
        }
        try file.settle(outcomes)
    }
}

/// A connection that is lost now and then.
private struct LossyClient: NumberedCalling {
    let client: FeedClient
    let network: Locked<HistoryDevice.Network>
    let random: Locked<SeededGenerator>
    let fault: HistoryFault?

    var service: HelloResponse? { client.service }

    private func isLost(oneIn count: Int) -> Bool {
        network.withLock { $0 } == .lossy && random.withLock { $0.oneIn(count) }
    }

    private static let lost = FeedClientError.connectionLost(reason: "lost", effect: .unknown)

    func answer(
        to request: Request,
        minimumRevision: UInt64,
        timeout: Duration?
    ) async throws(FeedClientError) -> Answer {
        var answer = try await client.answer(
            to: request,
            minimumRevision: minimumRevision,
            timeout: timeout
        )
        if isLost(oneIn: 8) { throw Self.lost }
        if fault == .undeleted, case .syncPosts(var changes) = answer.response {
            changes.posts.removeAll(where: \.isDeleted)
            answer.response = .syncPosts(changes)
        }
        return answer
    }

    /// Some of the changes are executed, and the first ones of these are answered.
    func make(
        _ changes: [NumberedChange],
        timeout: Duration?
    ) async -> [Result<Answer, FeedClientError>] {
        guard isLost(oneIn: 3) else { return await client.make(changes, timeout: timeout) }
        let counts = random.withLock { random in
            let sent = Int.random(in: 0...changes.count, using: &random)
            return (sent: sent, answered: Int.random(in: 0...sent, using: &random))
        }
        let results = await client.make(Array(changes.prefix(counts.sent)), timeout: timeout)
        if fault == .doubled {
            for change in changes.prefix(counts.sent) { _ = try? await client.call(change.request) }
        }
        return Array(results.prefix(counts.answered))
            + (counts.answered..<changes.count).map { _ in .failure(Self.lost) }
    }

    func acting(for userID: UserID) -> LossyClient { self }
    func close() async { await client.close() }
}
