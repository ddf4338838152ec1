import FeedClient
import FeedProto
import FeedTestSupport
import FeedTransport
import Testing

/// Random histories of a session against an independent model of the service.
///
/// Each call ends once. Each change is applied at most once, exactly once where it was answered, and
/// not at all where its error says that it had no effect.
struct SessionModelTests {
    /// What happens beside calls, answers and lost connections.
    enum Trouble: CaseIterable {
        case none, forgetting, replacing, anonymous, unnumbered
    }

    @Test(
        "calls end as the model knows them",
        arguments: Trouble.allCases,
        TestEnvironment.seeds(1...60)
    )
    func endsEveryCallAsItWent(trouble: Trouble, seed: UInt64) {
        var history = History(trouble, seed: seed)
        for _ in 0..<600 { history.step() }
        history.settle()
        #expect(history.service.faults.isEmpty, "\(history.service.faults.prefix(3)) seed \(seed)")
        for call in history.calls.indices.dropFirst() {
            let problem = history.problem(of: call)
            #expect(problem == nil, "call \(call), seed \(seed), \(trouble)")
        }
    }

    /// One history: a session, the model, and the network between them.
    struct History {
        var harness: SessionHarness
        var service: ModelService
        /// Whether each call is a change, by its caller.
        var calls: [Bool] = [false]

        private let trouble: Trouble
        private let numbersChannels: Bool
        private var generator: SeededGenerator
        private let inFlight: UInt32
        /// Frames on their way to the service, and answers on their way back.
        private var requests: [ClientFrame] = []
        private var answers: [ServerFrame] = []
        private var isConnected = false
        private var hasSentGoAway = false

        init(_ trouble: Trouble, seed: UInt64) {
            self.trouble = trouble
            numbersChannels = seed.isMultiple(of: 2)
            generator = SeededGenerator(seed: seed)
            inFlight = UInt32.random(in: 1...12, using: &generator)
            harness = SessionHarness(hasID: trouble != .anonymous, seed: seed) {
                $0.retry.budgetBurst = 40
            }
            let window = UInt64.random(in: 4...16, using: &generator)
            service = ModelService(
                window: window,
                offersSequences: trouble != .unnumbered,
                numbersChannels: numbersChannels
            )
        }

        mutating func step() {
            switch Int.random(in: 0..<20, using: &generator) {
            case 0..<5: submit()
            case 5..<10: execute()
            case 10..<14: deliver()
            case 14: harness.pass(UInt64.random(in: 0...400, using: &generator))
            case 15: connect()
            case 16: if generator.oneIn(3) { breakConnection() }
            case 17: harness.cancel(Int.random(in: 0..<calls.count, using: &generator))
            case 18: if generator.oneIn(4) { sendGoAway() }
            default: if generator.oneIn(6) { disturb() }
            }
            follow()
        }

        /// Lets everything end: the network works, and time passes.
        mutating func settle() {
            for _ in 0..<4_000 where !isSettled {
                connect()
                execute()
                deliver()
                harness.pass(20)
                follow()
            }
            harness.close()
            follow()
        }

        private var isSettled: Bool { harness.session.callCount == 0 }

        /// What is wrong with the end of a call; nil where nothing is.
        func problem(of caller: Int) -> String? {
            let outcomes = harness.outcomes[caller] ?? []
            guard outcomes.count == 1 else { return "It ended \(outcomes.count) times." }
            let applied = service.applied[UInt64(caller)] ?? 0
            guard applied <= 1 else { return "It was applied \(applied) times." }
            switch outcomes[0] {
            case .success:
                return calls[caller] && applied == 0 ? "It was answered and not applied." : nil
            case .failure(let error):
                if error.effect == .none, applied > 0 { return "\(error), but it was applied." }
                if !calls[caller], error.effect == .unknown { return "A read had an effect." }
                if case .inDoubt(let cause) = error { return problem(of: cause, applied) }
                if case .protocolViolation = error { return "\(error)" }
                return nil
            }
        }

        private func problem(of cause: InDoubtCause, _ applied: Int) -> String? {
            switch (cause, trouble) {
            case (.channelForgotten, .forgetting), (.stateReplaced, .replacing): nil
            // A Hello whose answer was lost hides whether a channel without calls is the old one, if
            // channels have no numbers.
            case (.channelForgotten, .none) where applied == 0 && !numbersChannels: nil
            case (.channelForgotten, .replacing) where applied == 0 && !numbersChannels: nil
            default: "It is in doubt without a reason: \(cause)"
            }
        }

        private mutating func submit() {
            let isChange = !generator.oneIn(3)
            let caller = calls.count
            calls.append(isChange)
            let post = PostID(rawValue: UInt64(caller))
            let request: Request =
                isChange
                ? .castVote(CastVoteRequest(postID: post, direction: .up))
                : .getPost(GetPostRequest(id: post))
            let timeout = UInt64.random(in: 200...4_000, using: &generator)
            harness.submit(caller, request, within: timeout)
        }

        /// Does what the session asked for since the last look.
        private mutating func follow() {
            for demand in harness.takeDemands() {
                switch demand {
                case .abandon: hangUp()
                case .close: endGracefully()
                case .connect, .sendHello, .finish: break
                }
            }
            requests += harness.takeFrames()
        }

        private mutating func connect() {
            guard harness.opensConnection(mayFail: true, &generator) else { return }
            service.accept()
            isConnected = true
            hasSentGoAway = false
            let hello = service.answerHello(inFlight: inFlight)
            answers.append(ServerFrame(id: 1, revision: 1, response: hello))
        }

        /// The service executes its next frame, or refuses it.
        private mutating func execute() {
            guard isConnected, !requests.isEmpty, !hasSentGoAway else { return }
            let frame = requests.removeFirst()
            let refusal: Status? = generator.oneIn(8) ? .overloaded(retryAfter: 10) : nil
            answers.append(service.execute(frame, refusal: refusal))
        }

        private mutating func deliver() {
            guard isConnected, !answers.isEmpty else { return }
            harness.receive(answers.removeFirst())
        }

        /// The service executes what it has, and takes nothing more.
        private mutating func sendGoAway() {
            guard isConnected, !hasSentGoAway, answers.allSatisfy({ $0.id != 1 }) else { return }
            let taken = Int.random(in: 0...requests.count, using: &generator)
            for frame in requests.prefix(taken) {
                answers.append(service.execute(frame, refusal: nil))
            }
            requests = []
            hasSentGoAway = true
            let goAway = GoAway(lastID: service.lastID, drainMilliseconds: 1_000, reason: .draining)
            // Its place among the answers is the service's choice.
            let place = Int.random(in: 0...answers.count, using: &generator)
            answers.insert(ServerFrame(id: 0, revision: 1, response: .goAway(goAway)), at: place)
        }

        private mutating func breakConnection() {
            guard isConnected else { return }
            // The service may still execute what is on its way, unless it said that it will not.
            while !hasSentGoAway, !requests.isEmpty, !generator.oneIn(4) {
                _ = service.execute(requests.removeFirst(), refusal: nil)
            }
            hangUp()
            harness.lose()
        }

        private mutating func endGracefully() {
            guard isConnected else { return }
            hangUp()
            harness.lose(.closed)
        }

        private mutating func hangUp() {
            isConnected = false
            requests = []
            answers = []
        }

        /// The service forgets, which it does while no connection holds the channel.
        private mutating func disturb() {
            switch trouble {
            case .none, .anonymous, .unnumbered: break
            case .forgetting: if !isConnected { service.forget() }
            case .replacing:
                if isConnected { breakConnection() }
                service.replaceState()
            }
        }
    }
}

/// A service in a few lines, as docs/PROTOCOL.md describes one: independent of the client's code.
///
/// It executes frames in their order, remembers numbered calls in a window, and counts how often
/// each change was applied. Changes are told apart by the post that they name.
struct ModelService {
    /// How often each change was applied, over all instances of the state.
    private(set) var applied: [UInt64: Int] = [:]
    /// What broke a rule of the protocol that the client must keep.
    private(set) var faults: [String] = []

    /// The last frame of the connection that it executed or refused.
    private(set) var lastID: UInt64 = 0

    private var instance: UInt64 = 1
    /// The executed numbers of the one channel, with the change of each; nil where it is forgotten.
    private var record: [UInt64: UInt64]?
    private var highest: UInt64 = 0
    /// The number of the channel, which begins at 1 in each instance.
    private var channelNumber: UInt64 = 0
    private var hasHello = false
    private let window: UInt64
    private let offersSequences: Bool
    private let numbersChannels: Bool

    init(window: UInt64, offersSequences: Bool, numbersChannels: Bool) {
        self.window = window
        self.offersSequences = offersSequences
        self.numbersChannels = numbersChannels
    }

    mutating func accept() {
        lastID = 0
        hasHello = false
    }

    mutating func forget() {
        record = nil
        highest = 0
    }

    /// The service starts with an empty state.
    mutating func replaceState() {
        instance += 1
        channelNumber = 0
        forget()
    }

    mutating func answerHello(inFlight: UInt32) -> Response {
        hasHello = true
        lastID = 1
        let isKnown = record != nil
        if offersSequences, record == nil {
            record = [:]
            channelNumber += 1
        }
        return SessionHarness.hello(
            inFlight: inFlight,
            window: UInt32(window),
            instance: instance,
            isKnown: isKnown,
            last: highest,
            capabilities: offersSequences ? [.exactlyOnce] : [],
            channelNumber: numbersChannels ? channelNumber : 0
        )
    }

    /// Executes a frame; a refusal is what the service has against it, where it has something.
    mutating func execute(_ frame: ClientFrame, refusal: Status?) -> ServerFrame {
        if frame.id <= lastID { faults.append("Frame \(frame.id) came after frame \(lastID).") }
        lastID = frame.id
        if !hasHello { faults.append("Frame \(frame.id) came before Hello.") }
        guard case .castVote(let vote) = frame.request else {
            if frame.sequence > 0 { faults.append("A read has a sequence.") }
            return answer(frame, refusal)
        }
        guard frame.sequence > 0 else {
            if refusal == nil { applied[vote.postID.rawValue, default: 0] += 1 }
            return answer(frame, refusal)
        }
        guard let known = record else {
            faults.append("A sequence came without a channel.")
            return answer(frame, refusal)
        }
        if let change = known[frame.sequence] {
            return answer(frame, change == vote.postID.rawValue ? nil : failure(.sequenceReused))
        }
        guard frame.sequence + window > highest else {
            return answer(frame, failure(.sequenceExpired))
        }
        guard refusal == nil else { return answer(frame, refusal) }
        applied[vote.postID.rawValue, default: 0] += 1
        highest = max(highest, frame.sequence)
        record?[frame.sequence] = vote.postID.rawValue
        record = record?.filter { $0.key + window > highest }
        return answer(frame, nil)
    }

    private func failure(_ reason: Reason) -> Status {
        Status(code: .failedPrecondition, reason: reason, message: "", isNotExecuted: false)
    }

    private func answer(_ frame: ClientFrame, _ status: Status?) -> ServerFrame {
        guard let status else { return ServerFrame(id: frame.id, revision: 1, response: .empty) }
        return ServerFrame(id: frame.id, revision: 1, status: status)
    }
}
