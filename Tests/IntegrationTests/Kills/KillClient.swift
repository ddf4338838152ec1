import FeedProto
import FeedTestSupport

/// A client of a service that is killed again and again; used by one thread at a time.
///
/// With sequences it sends again what was not answered before, and that counts once; without, it
/// leaves that to the model to guess. Its posts are changed by nobody else, so that their texts
/// follow from its own commands.
final class KillClient: @unchecked Sendable {
    /// How many calls it has in flight.
    private static let windowCount = 32

    let number: Int
    private let isSequenced: Bool
    private let name: [UInt8]
    private let shared: [PostID]
    private let ballotPosts: [PostID]
    private let model: Locked<KillModel>
    private let fault: KillFault?
    private var random: SeededGenerator
    private var own: [PostID] = []
    private var madeCount = 0
    private var unanswered: [Call] = []
    private var lastSequence: UInt64 = 0
    private var lastAnswered: UInt64 = 0
    private var wasGreeted = false

    private struct Call {
        var id: UInt64 = 0
        var sequence: UInt64
        let command: KillCommand
        var isRepeat = false
    }

    /// A client that shares some posts with others.
    init(
        number: Int,
        seed: UInt64,
        isSequenced: Bool,
        shared: [PostID],
        ballotPosts: [PostID],
        model: Locked<KillModel>,
        fault: KillFault?
    ) {
        self.number = number
        self.isSequenced = isSequenced
        self.shared = shared
        self.ballotPosts = ballotPosts
        self.model = model
        self.fault = fault
        random = SeededGenerator(seed: seed)
        name = random.bytes(16)
    }

    /// Makes calls until the connection is lost; `answered` hears of each answer.
    func work(port: UInt16, answered: () -> Void) {
        // However the connection ends, the service is gone.
        try? workOnce(port: port, answered)
        for command in isSequenced ? [] : unanswered.map(\.command) {
            model.withLock { model in
                if fault == .early, case .vote = command {
                    let answer = ServerFrame(id: 0, revision: 0, response: .empty)
                    model.acknowledge(command, answer, client: number, isRepeat: true)
                } else {
                    model.doubt(command, client: number)
                }
            }
        }
        if !isSequenced { unanswered = [] }
    }

    /// Sends again what was not answered, until all is.
    func repeatUnanswered(port: UInt16) throws {
        let connection = try connect(port)
        while !unanswered.isEmpty { try receive(connection) }
    }

    func standingBallots(port: UInt16) throws -> [PostID: VoteDirection] {
        let connection = try WireClient(port: port)
        _ = try connection.hello(clientID: name, channel: 1)
        let answer = try connection.call(.batchGetPosts(BatchGetPostsRequest(ids: ballotPosts)))
        guard case .batchGetPosts(let response) = answer.response else { return [:] }
        return Dictionary(
            response.posts.map { ($0.id, $0.viewer?.vote ?? .unspecified) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    private func workOnce(port: UInt16, _ answered: () -> Void) throws {
        let connection = try connect(port)
        while true {
            var bytes: [UInt8] = []
            let count = Int.random(in: 1...Self.windowCount, using: &random)
            while unanswered.count < count {
                let command = newCommand()
                if isSequenced { lastSequence += 1 }
                unanswered.append(Call(sequence: isSequenced ? lastSequence : 0, command: command))
                bytes += try frame(connection, unanswered.count - 1)
            }
            try connection.socket.send(bytes)
            for _ in 0..<Int.random(in: 0...unanswered.count, using: &random) {
                try receive(connection)
                answered()
            }
        }
    }

    /// Connects, and sends again what was not answered before.
    private func connect(_ port: UInt16) throws -> WireClient {
        let connection = try WireClient(port: port)
        let answer = try connection.hello(clientID: name)
        guard case .hello(let hello) = answer.response else { throw KillRunError.noAnswer }
        model.withLock { model in
            model.see(revision: answer.revision)
            // A Hello that was not answered may have been remembered, too.
            if wasGreeted, !hello.isClientKnown { model.complain("\(number) was forgotten") }
            if !(lastAnswered...lastSequence).contains(hello.lastSequence) {
                model.complain(
                    "client \(number) is said to have called up to \(hello.lastSequence); "
                        + "it did to \(lastSequence), and up to \(lastAnswered) was answered"
                )
            }
        }
        wasGreeted = true
        for index in unanswered.indices {
            unanswered[index].isRepeat = true
            if fault == .forgotten {
                lastSequence += 1
                unanswered[index].sequence = lastSequence
            }
            if case .delete = unanswered[index].command {
                // Calls before it may be answered as of after it.
                model.withLock { $0.doubt(unanswered[index].command, client: number) }
            }
            try connection.socket.send(frame(connection, index))
        }
        return connection
    }

    private func frame(_ connection: WireClient, _ index: Int) throws -> [UInt8] {
        unanswered[index].id = connection.nextID()
        let call = unanswered[index]
        return try ClientFrame(
            id: call.id,
            request: fault?.request(insteadOf: call.command, sequence: call.sequence)
                ?? call.command.request,
            sequence: call.sequence
        ).encoded()
    }

    /// Takes an answer, and sends the call again if the machine's disk stands still, which has no effect.
    ///
    /// Such refusals overtake answers that wait for the disk. The call is a repeat then, as calls that were
    /// sent after it may come before it.
    private func receive(_ connection: WireClient) throws {
        guard let answer = try connection.receive(),
            let index = unanswered.firstIndex(where: { $0.id == answer.id })
        else { throw KillRunError.noAnswer }
        let call = unanswered.remove(at: index)
        let (sequence, command, isRepeat) = (call.sequence, call.command, call.isRepeat)
        if let status = answer.status, status.isNotExecuted, status.message.contains("stood still")
        {
            unanswered.append(Call(sequence: sequence, command: command, isRepeat: true))
            return try connection.socket.send(frame(connection, unanswered.count - 1))
        }
        if index != 0 { model.withLock { $0.complain("\(command) was answered too early") } }
        lastAnswered = max(lastAnswered, sequence)
        switch answer.response {
        case .post(let post):
            if case .create = command { own.append(post.id) }
        case .importPosts(let response): own += response.ids
        default: break
        }
        model.withLock { $0.acknowledge(command, answer, client: number, isRepeat: isRepeat) }
    }

    private func newCommand() -> KillCommand {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<6: return .create(title: newTitle())
        case 6..<7:
            return .importPosts(
                titles: (0..<3).map { _ in newTitle() },
                upvotes: .random(in: 0...9, using: &random)
            )
        case 7..<12:
            guard let post = own.randomElement(using: &random) else { break }
            return .update(post: post, text: newTitle())
        case 12..<16:
            guard own.count > 4 else { break }
            return .delete(post: own.remove(at: .random(in: 0..<own.count, using: &random)))
        case 16..<30:
            guard let post = ballotPosts.randomElement(using: &random) else { break }
            let directions = [VoteDirection.up, .down, .clear]
            let direction = directions[Int.random(in: 0..<3, using: &random)]
            return .vote(CastVoteRequest(postID: post, direction: direction))
        case 30..<45:
            return .votes((0..<Int.random(in: 1...80, using: &random)).map { _ in newVote() })
        default: break
        }
        return .vote(newVote())
    }

    private func newTitle() -> String {
        madeCount += 1
        return "\(number)-\(madeCount)"
    }

    private func newVote() -> CastVoteRequest {
        let posts = random.oneIn(3) && !own.isEmpty ? own : shared
        return CastVoteRequest(
            postID: posts[Int.random(in: 0..<posts.count, using: &random)],
            direction: random.oneIn(4) ? .down : .up
        )
    }
}

enum KillRunError: Error {
    /// The service has closed the connection.
    case noAnswer
}
