import FeedTestSupport

/// Changes some answers as a hostile service might, from a seed: bits, bytes, lengths, the largest
/// numbers, and bytes that a terminal obeys.
struct AnswerMutator: Sendable {
    /// How many answers were changed.
    private(set) var count: UInt64 = 0
    private var random: SeededGenerator
    private let oneIn: Int

    /// Changes one answer of `oneIn`.
    init(seed: UInt64, oneIn: Int) {
        random = SeededGenerator(seed: seed)
        self.oneIn = oneIn
    }

    /// Changes some of the frames in `bytes`, which stay frames.
    mutating func frames(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var rest = bytes[...]
        while rest.count >= 4 {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            let body = answer(Array(rest.dropFirst(4).prefix(length)))
            rest = rest.dropFirst(4 + length)
            output += (0..<4).reversed().map { UInt8(truncatingIfNeeded: body.count >> (8 * $0)) }
            output += body
        }
        return output
    }

    /// Changes an answer, if it is its turn.
    mutating func answer(_ bytes: [UInt8]) -> [UInt8] {
        guard !bytes.isEmpty, random.oneIn(oneIn) else { return bytes }
        count += 1
        var bytes = bytes
        let place = Int.random(in: bytes.indices, using: &random)
        switch Int.random(in: 0..<7, using: &random) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 2: bytes.replaceSubrange(place...place, with: Self.largest)
        case 3: bytes.insert(contentsOf: Self.largest, at: place)
        case 4: bytes.insert(contentsOf: Array("\u{1B}[2J\n\u{202E}".utf8), at: place)
        case 5: bytes.removeSubrange(place...)
        default: bytes.insert(contentsOf: bytes[place...], at: place)
        }
        return bytes
    }

    /// The largest number of 64 bits as a varint; as an `int64` it is -1.
    private static let largest = [UInt8](repeating: 0xFF, count: 9) + [0x01]
}
