import FakeReplica
import FeedReplica
import FeedTestSupport

/// Words by chance, of all kinds, and up to a length of their tails.
struct RandomWords {
    var random: SeededGenerator
    let longestTail: Int

    private mutating func number() -> UInt64 {
        random.oneIn(4) ? [0, 1, .max, .max / 2].randomElement(using: &random) ?? 0 : random.next()
    }

    private mutating func bytes(_ least: Int, _ limit: Int) -> [UInt8] {
        let most = max(least, min(limit, longestTail))
        return random.bytes(Int.random(in: least...most, using: &random))
    }

    /// Letters of one byte and of three.
    private mutating func text(_ least: Int, _ limit: Int = ReplicaLimits.textByteCount) -> String {
        let most = max(least, min(limit, longestTail) / 3)
        let count = Int.random(in: least...most, using: &random)
        return String((0..<count).map { _ in random.oneIn(2) ? "a" : "€" })
    }

    private mutating func choice<Value: CaseIterable>(_: Value.Type) -> Value {
        guard let value = Value.allCases.randomElement(using: &random) else {
            preconditionFailure("An enum has cases.")
        }
        return value
    }

    private mutating func cluster() -> ClusterID { ClusterID(high: number(), low: number()) }

    mutating func serviceWord() -> (ServiceWord, body: [UInt8]) {
        switch Int.random(in: 1...9, using: &random) {
        case 1:
            let ends = [number(), number()].sorted()
            let hello = ReplicaHello(
                version: number(),
                applied: number(),
                levels: ends[0]...ends[1],
                cluster: cluster(),
                address: text(0)
            )
            return (.hello(hello), [])
        case 2:
            let body = bytes(1, ReplicaLimits.bodyByteCount)
            return (.propose(term: number(), index: number()), body)
        case 3: return (.durable(number()), [])
        case 4: return (.read(number()), [])
        case 5:
            let change = choice(MemberChange.self)
            let word = ServiceWord.member(
                term: number(),
                index: number(),
                change,
                node: number(),
                text: text(0)
            )
            return (word, [])
        case 6: return (.transfer(node: number()), [])
        case 7: return (.status(request: number()), [])
        case 8: return (.copy(request: number(), index: number(), path: text(1)), [])
        default: return (.noCopy(request: number(), why: text(0)), [])
        }
    }

    mutating func replicaWord() -> ReplicaWord {
        switch Int.random(in: 64...79, using: &random) {
        case 64:
            .welcome(
                ReplicaWelcome(
                    version: number(),
                    node: number(),
                    term: number(),
                    leader: number(),
                    committed: number(),
                    last: number(),
                    cluster: cluster()
                )
            )
        case 65:
            entry(choice(EntryKind.self))
        case 66: .committed(term: number(), index: number())
        case 67:
            .role(
                ReplicaRole(
                    leads: random.oneIn(2),
                    term: number(),
                    leader: number(),
                    index: number()
                )
            )
        case 68:
            .refused(
                term: number(),
                index: number(),
                choice(RefusalReason.self),
                text: text(0)
            )
        case 69: .readOK(number())
        case 70: .readNo(number())
        case 71: .heard(committed: number(), microseconds: number())
        case 72:
            .added(
                index: number(),
                node: number(),
                token: text(1, ReplicaLimits.tokenByteCount)
            )
        case 73: .memberWanted(choice(MemberChange.self), node: number())
        case 74: .copyWanted(request: number(), least: number())
        case 75: .copyDone(request: number())
        case 76: .install(index: number(), path: text(1))
        case 77: .tooOld(first: number())
        case 78: .statusIs(request: number(), json: bytes(2, ReplicaLimits.documentByteCount))
        default: .end(choice(EndReason.self), text: text(0))
        }
    }

    private mutating func entry(_ kind: EntryKind) -> ReplicaWord {
        let body = kind == .batch ? bytes(0, ReplicaLimits.bodyByteCount) : []
        return .entry(index: number(), term: number(), kind, body: body)
    }
}
