import FeedClient
import FeedConcurrency
import FeedText
import FeedTransport

extension Preparation {
    /// What a run does before its load on redis-server: it creates the sorted set that stands for the
    /// posts.
    func addPosts() async throws(RunFailure) -> PreparedRun {
        let (client, address) = try await connectToRedis()
        let posts = RESPSortedSet()
        var failure: RunFailure?
        do throws(RESPFailure) {
            try await add(to: posts, over: client)
        } catch {
            failure = .redis(step: "adding posts", cause: error.description)
        }
        await client.close()
        if let failure { throw failure }
        let ids = Array(0..<UInt64(configuration.postCount))
        let keys = KeyChoice(configuration.keys, postCount: ids.count, seed: configuration.seed)
        var workload = Workload(postIDs: ids, keys: keys)
        workload.sortedSet = posts
        return PreparedRun(
            address: address,
            server: .resp(posts),
            knowledge: AuditKnowledge(postIDs: ids),
            outcome: .ready(workload, hottestShare: keys.hottestShare)
        )
    }

    private func connectToRedis() async throws(RunFailure) -> (RESPClient, SocketAddress) {
        var failure = RESPFailure.connectionLost
        for address in addresses {
            do throws(RESPFailure) {
                return (try await RESPClient.connect(to: address, configuration), address)
            } catch {
                failure = error
            }
        }
        throw .noRedis(target: configuration.target, cause: failure.description)
    }

    private func add(to posts: RESPSortedSet, over client: RESPClient) async throws(RESPFailure) {
        let total = UInt64(configuration.postCount)
        var first: UInt64 = 0
        while first < total {
            let end = min(first + Self.postsPerCommand, total)
            let replies = try await client.call([posts.add(first..<end)])
            guard replies == [.integer(Int64(end - first))] else {
                throw .badReply("ZADD of \(end - first) new members was answered otherwise.")
            }
            first = end
            if first.isMultiple(of: Self.progressStep) {
                showProgress(
                    "adding posts  \(NumberFormat.count(first)) of \(NumberFormat.count(total))"
                )
            }
        }
    }

    private static let postsPerCommand: UInt64 = 1000
    private static let progressStep: UInt64 = 10_000
}

/// Compares what a run knows of its posts with the sorted set that redis-server has.
///
/// First the score of each post is read, then, after a pause, the whole set once, best first. A set
/// in which nothing is wrong is removed then.
struct RESPAudit: RunAudit {
    let address: SocketAddress
    let posts: RESPSortedSet
    let knowledge: AuditKnowledge
    let configuration: RunConfiguration

    func run(connected: (FeedClient) -> Void) async -> Audit.Report {
        do throws(RESPFailure) {
            let client = try await RESPClient.connect(to: address, configuration)
            let outcome = await read(over: client)
            await client.close()
            return Audit.Report(outcome: outcome)
        } catch {
            return Audit.Report(outcome: .impossible(error.description))
        }
    }

    private func read(over client: RESPClient) async -> AuditOutcome {
        do throws(RESPFailure) {
            var summary = knowledge.summary
            let start = ContinuousClock.now
            let scores = try await readScores(over: client, &summary)
            do {
                try await Task.sleep(until: start + Self.quietTime, clock: .continuous)
            } catch {
                throw .connectionLost
            }
            try await walk(over: client, scores, &summary)
            if summary.findings.isEmpty { _ = try await client.call([posts.remove]) }
            return .done(summary)
        } catch {
            return .impossible(error.description)
        }
    }

    /// Compares the score of each post with the votes on it.
    private func readScores(
        over client: RESPClient,
        _ summary: inout AuditSummary
    ) async throws(RESPFailure) -> [UInt64: Int64] {
        var votes = VoteAudit()
        var scores: [UInt64: Int64] = [:]
        var rest = knowledge.accounts[...]
        while !rest.isEmpty {
            let accounts = rest.prefix(Self.postsPerCall)
            rest = rest.dropFirst(Self.postsPerCall)
            let replies = try await client.call(accounts.map { posts.score($0.id) })
            for (account, reply) in zip(accounts, replies) {
                scores[account.id] = reply.score
                if votes.check(account, score: reply.score) { summary.exactPostCount += 1 }
            }
        }
        summary.findings.add(votes.findings)
        summary.countedVoteCount = votes.countedVoteCount
        return scores
    }

    /// Reads the set in its order: each post once, with the score that it had before the pause.
    private func walk(
        over client: RESPClient,
        _ scores: [UInt64: Int64],
        _ summary: inout AuditSummary
    ) async throws(RESPFailure) {
        var seen: Set<UInt64> = []
        var last: RESPPage.Entry?
        var place = 0
        while true {
            let replies = try await client.call([posts.page(from: place, count: Self.postsPerCall)])
            guard let page = replies.first.flatMap(RESPPage.init) else {
                throw .badReply("ZREVRANGE was answered with something that is no page.")
            }
            // A server that makes up members would never come to an empty page.
            guard !page.entries.isEmpty, seen.count <= knowledge.accounts.count else { break }
            page.check(after: last, into: &summary.findings)
            for entry in page.entries {
                if !seen.insert(entry.post).inserted {
                    summary.findings.note(.listedTwice, "The walk lists post \(entry.post) twice.")
                }
                if let score = scores[entry.post], score != entry.score {
                    summary.findings.note(
                        .movingScore,
                        """
                        Post \(entry.post) had score \(score) after the run and \(entry.score) on its \
                        page.
                        """
                    )
                }
            }
            last = page.entries.last
            place += page.entries.count
        }
        for id in knowledge.accounts.map(\.id) where !seen.contains(id) {
            summary.findings.note(.notListed, "No page lists post \(id).")
        }
        summary.listedPostCount = UInt64(seen.count)
        guard try await client.call([posts.count]) != [.integer(Int64(seen.count))] else { return }
        summary.findings.note(.walkCount, "ZCARD is not the \(seen.count) posts of the walk.")
    }

    /// Commands, or posts of a page, in one call.
    private static let postsPerCall = 1000
    /// Scores that still change after this time are changed by other traffic.
    private static let quietTime = Duration.milliseconds(200)
}

/// Sends the commands before and after the load, over a connection on a thread of its own.
///
/// Commands of one call are sent together, and calls one after another.
final class RESPClient: Sendable {
    private let thread: EventLoopThread
    private let calls: LoopBound<RESPCalls>

    private init(_ thread: EventLoopThread, _ calls: LoopBound<RESPCalls>) {
        self.thread = thread
        self.calls = calls
    }

    static func connect(
        to address: SocketAddress,
        _ configuration: RunConfiguration
    ) async throws(RESPFailure) -> RESPClient {
        let thread: EventLoopThread
        do throws(TransportError) {
            thread = try EventLoopThread(
                name: "resp",
                configuration: .load,
                budget: BufferBudget()
            ) { _ in }
        } catch {
            throw .cannotConnect(error.description)
        }
        let opened: Result<LoopBound<RESPCalls>, RESPFailure> = await withCheckedContinuation {
            continuation in
            thread.mailbox.post { loop in
                let calls = RESPCalls(loop, replyTimeout: configuration.replyTimeout)
                calls.connect(to: address, timeout: configuration.connectTimeout) { failure in
                    continuation.resume(
                        returning: failure.map(Result.failure)
                            ?? .success(LoopBound(calls, to: loop.mailbox))
                    )
                }
            }
        }
        do {
            return RESPClient(thread, try opened.get())
        } catch {
            thread.stop()
            throw error
        }
    }

    /// The replies to `commands`, in order; the first error among them is thrown.
    func call(_ commands: [[UInt8]]) async throws(RESPFailure) -> [RESPValue] {
        guard !Task.isCancelled else { throw .connectionLost }
        let result = await withCheckedContinuation { continuation in
            calls.post { $0.send(commands) { continuation.resume(returning: $0) } }
        }
        let replies = try result.get()
        for case .error(let text) in replies { throw .refused(text) }
        return replies
    }

    func close() async {
        thread.stop()
        await withCheckedContinuation { continuation in
            thread.whenFinished { continuation.resume() }
        }
    }
}

enum RESPFailure: Error, Equatable, CustomStringConvertible {
    case cannotConnect(String)
    case connectionLost
    case noReply(within: Duration)
    case refused(String)
    case badReply(String)

    var description: String {
        switch self {
        case .cannotConnect(let cause): cause
        case .connectionLost: "The connection ended."
        case .noReply(let limit): "No reply came within \(NumberFormat.duration(limit))."
        case .refused(let text): VisibleText.line(text)
        case .badReply(let text): VisibleText.line(text)
        }
    }
}

/// The connection of a ``RESPClient``, on its loop.
private final class RESPCalls: ConnectionHandler {
    private let loop: EventLoop
    private let replyTimeout: Duration
    private var connection: TCPConnection?
    private var opened: ((RESPFailure?) -> Void)?
    private var done: ((Result<[RESPValue], RESPFailure>) -> Void)?
    private var replies: [RESPValue] = []
    private var dueCount = 0
    private var timer: LoopTimer?

    init(_ loop: EventLoop, replyTimeout: Duration) {
        self.loop = loop
        self.replyTimeout = replyTimeout
    }

    func connect(
        to address: SocketAddress,
        timeout: Duration,
        _ opened: @escaping (RESPFailure?) -> Void
    ) {
        self.opened = opened
        do throws(TransportError) {
            try loop.connect(to: address, timeout: timeout, handler: self)
        } catch {
            self.opened = nil
            opened(.cannotConnect(error.description))
        }
    }

    func send(_ commands: [[UInt8]], _ done: @escaping (Result<[RESPValue], RESPFailure>) -> Void) {
        guard let connection else { return done(.failure(.connectionLost)) }
        self.done = done
        replies = []
        dueCount = commands.count
        timer = try? loop.addTimer(after: replyTimeout) { [unowned self] in
            finish(.failure(.noReply(within: replyTimeout)))
            self.connection?.reset()
        }
        connection.write(Array(commands.joined()))
        finishIfDone()
    }

    func connectionOpened(_ connection: TCPConnection) {
        self.connection = connection
        opened?(nil)
        opened = nil
    }

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        var offset = 0
        do throws(RESPError) {
            while let reply = try RESPReader.next(in: bytes, at: &offset) { replies.append(reply) }
        } catch {
            connection.reset()
            finish(.failure(.badReply(error.description)))
            return ReadProgress(consumedByteCount: bytes.byteCount)
        }
        finishIfDone()
        return ReadProgress(consumedByteCount: offset)
    }

    func connectionEndedInput(_ connection: TCPConnection) { connection.closeAfterFlush() }

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) {
        self.connection = nil
        if case .connectFailed(let error) = reason {
            opened?(.cannotConnect(error.description))
        } else {
            opened?(.connectionLost)
        }
        opened = nil
        finish(.failure(.connectionLost))
    }

    private func finishIfDone() {
        if replies.count >= dueCount { finish(.success(replies)) }
    }

    private func finish(_ result: Result<[RESPValue], RESPFailure>) {
        timer?.cancel()
        timer = nil
        guard let done else { return }
        self.done = nil
        done(result)
    }
}
