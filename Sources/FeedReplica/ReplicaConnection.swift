/// The socket to the replica, with words in place of frames; one thread uses it.
package final class ReplicaConnection {
    private let socket: FrameSocket
    /// Nothing behind a wrong frame is read, also if only a number in it was wrong.
    private var failure: ReplicaError?

    /// Connects, and says nothing yet.
    package init(connectingTo path: String) throws(ReplicaError) {
        socket = try FrameSocket(connectingTo: path, expecting: FrameKind.ofReplica)
    }

    /// Takes over a connected socket.
    package init(adopting descriptor: Int32) {
        socket = FrameSocket(adopting: descriptor, expecting: FrameKind.ofReplica)
    }

    /// The bytes that the replica has not read yet, but for those in the system's buffers.
    package var unsentByteCount: Int { socket.unsentByteCount }

    /// The memory for bytes that come.
    package var receiveBufferByteCount: Int { socket.receiveBufferByteCount }

    /// Says a word, without waiting: what the socket does not take is sent in `wait`.
    ///
    /// A failure is told by the `receive()` behind the last word that has come. Texts and paths have at most
    /// `ReplicaLimits.textByteCount` bytes; a longer reason is cut.
    ///
    /// - Parameters:
    ///   - word: What is said.
    ///   - body: The batch of PROPOSE, 1 byte to `ReplicaLimits.bodyByteCount`; no other word has one.
    package func send(_ word: ServiceWord, body: Span<UInt8> = Span()) {
        switch word {
        case .hello(let hello):
            let levels = hello.levels
            let tail = hello.cluster.bytes + hello.address.utf8
            socket.send(
                .hello,
                [hello.version, hello.applied, levels.lowerBound, levels.upperBound],
                tail: tail.span
            )
        case .propose(let term, let index): socket.send(.propose, [term, index], tail: body)
        case .durable(let index): socket.send(.durable, [index])
        case .read(let id): socket.send(.read, [id])
        case .member(let term, let index, let change, let node, let text):
            let text = Array(text.utf8)
            socket.send(.member, [term, index, change.rawValue, node], tail: text.span)
        case .transfer(let node): socket.send(.transfer, [node])
        case .status(let request): socket.send(.status, [request])
        case .copy(let request, let index, let path):
            let path = Array(path.utf8)
            socket.send(.copy, [request, index], tail: path.span)
        case .noCopy(let request, let why):
            let text = Array(why.utf8.prefix(ReplicaLimits.textByteCount))
            socket.send(.noCopy, [request], tail: text.span)
        }
    }

    /// The next whole word that has come; nil where none has.
    ///
    /// After an error each call throws.
    package func receive() throws(ReplicaError) -> ReplicaWord? {
        if let failure { throw failure }
        do {
            return try socket.next().map(word)
        } catch {
            failure = error
            throw error
        }
    }

    private func word(_ frame: Frame) throws(ReplicaError) -> ReplicaWord {
        let fields = frame.fields
        return switch frame.kind {
        case .welcome:
            .welcome(
                ReplicaWelcome(
                    version: fields[0],
                    node: fields[1],
                    term: fields[2],
                    leader: fields[3],
                    committed: fields[4],
                    last: fields[5],
                    cluster: ClusterID(socket.tail(of: frame))
                )
            )
        case .entry: try entry(frame)
        case .committed: .committed(term: fields[0], index: fields[1])
        case .role:
            .role(
                ReplicaRole(
                    leads: try leads(frame),
                    term: fields[1],
                    leader: fields[2],
                    index: fields[3]
                )
            )
        case .refused:
            .refused(
                term: fields[0],
                index: fields[1],
                try frame.value(2, "reason"),
                text: text(frame)
            )
        case .readOK: .readOK(fields[0])
        case .readNo: .readNo(fields[0])
        case .heard: .heard(committed: fields[0], microseconds: fields[1])
        case .added: .added(index: fields[0], node: fields[1], token: text(frame))
        case .memberWanted: .memberWanted(try frame.value(0, "change"), node: fields[1])
        case .copyWanted: .copyWanted(request: fields[0], least: fields[1])
        case .copyDone: .copyDone(request: fields[0])
        case .install: .install(index: fields[0], path: text(frame))
        case .tooOld: .tooOld(first: fields[0])
        case .statusIs: .statusIs(request: fields[0], json: socket.tail(of: frame))
        case .end: .end(try frame.value(0, "reason"), text: text(frame))
        case .hello, .propose, .durable, .read, .member, .transfer, .status, .copy, .noCopy:
            throw frame.bad("only a service says it")
        }
    }

    /// Waits until bytes have come, the socket has taken some that wait, somebody wakes, or the time is up.
    ///
    /// It may return earlier. Call `receive()` until there is no word, and then this.
    package func wait(upTo longest: Duration, orWake wakeUp: ReplicaWakeUp) throws(ReplicaError) {
        try socket.wait(upTo: longest, orWake: wakeUp)
    }

    private func entry(_ frame: Frame) throws(ReplicaError) -> ReplicaWord {
        let kind: EntryKind = try frame.value(2, "kind of entry")
        let body = socket.tail(of: frame)
        guard kind == .batch || body.isEmpty else {
            throw frame.bad(
                "expected no bytes for kind of entry \(kind.rawValue), got \(body.count)"
            )
        }
        return .entry(index: frame.fields[0], term: frame.fields[1], kind, body: body)
    }

    private func leads(_ frame: Frame) throws(ReplicaError) -> Bool {
        guard frame.fields[0] <= 1 else {
            throw frame.bad("expected 1 or 0 for who leads, got \(frame.fields[0])")
        }
        return frame.fields[0] == 1
    }

    private func text(_ frame: Frame) -> String {
        String(decoding: socket.tail(of: frame), as: UTF8.self)
    }
}

extension ClusterID {
    package static let byteCount = 16

    /// The number that 16 bytes have.
    package init(_ bytes: [UInt8]) {
        precondition(bytes.count == Self.byteCount, "The number of a cluster has 16 bytes.")
        func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
            bytes.reduce(0) { $0 << 8 | UInt64($1) }
        }
        self.init(high: number(bytes[..<8]), low: number(bytes[8...]))
    }

    package var bytes: [UInt8] {
        [high, low].flatMap { number in
            (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        }
    }
}
