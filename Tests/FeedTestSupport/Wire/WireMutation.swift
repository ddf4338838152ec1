package import FeedProto

/// Turns a message of protobuf into one that a hostile or damaged service may send.
///
/// Most numbers become those at which arithmetic breaks, fields come twice or not at all, and some bytes are
/// any. Lengths are written anew, so that most results are still messages.
package struct WireMutation {
    private static let numbers: [UInt64] = [
        0, 1, 2, 127, 255, 1 << 31 - 1, 1 << 31, 1 << 32 - 1, 1 << 32, 1 << 51, 1 << 53, 1 << 56,
        1 << 62,
        1 << 62 | 1, 1 << 63 - 1, 1 << 63, 1 << 63 + 1, .max - 1, .max,
    ]
    private static let maximumDepth = 6

    private var random: SeededGenerator
    /// How likely a number or a field is changed: one of so many.
    private var rarity = 4

    package init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// A mutation of a message; one of eight is the message as it is.
    package mutating func mutate(_ body: [UInt8]) -> [UInt8] {
        guard !random.oneIn(8) else { return body }
        rarity = Int.random(in: 1...8, using: &random)
        var mutated = fields(body[...], depth: 0) ?? body
        if random.oneIn(8), let place = mutated.indices.randomElement(using: &random) {
            mutated[place] = UInt8.random(in: .min ... .max, using: &random)
        }
        return mutated
    }

    /// The fields of a message, mutated; nil where the bytes are no message.
    private mutating func fields(_ bytes: ArraySlice<UInt8>, depth: Int) -> [UInt8]? {
        guard depth < Self.maximumDepth else { return nil }
        var rest = bytes
        var result: [UInt8] = []
        while !rest.isEmpty {
            guard let tag = Self.takeNumber(&rest), tag >> 3 > 0,
                let value = value(of: tag & 7, &rest, depth)
            else { return nil }
            if random.oneIn(16 * rarity) { continue }
            for _ in 0..<(random.oneIn(16 * rarity) ? 2 : 1) {
                Self.append(tag, to: &result)
                result += value
            }
        }
        return result
    }

    /// The value of a field of a type on the wire, mutated; nil where there is none.
    private mutating func value(
        of type: UInt64,
        _ rest: inout ArraySlice<UInt8>,
        _ depth: Int
    ) -> [UInt8]? {
        var value: [UInt8] = []
        switch type {
        case 0:
            guard let number = Self.takeNumber(&rest) else { return nil }
            Self.append(random.oneIn(rarity) ? anyNumber() : number, to: &value)
        case 1, 5:
            let count = type == 1 ? 8 : 4
            guard rest.count >= count else { return nil }
            value = Array(rest.prefix(count))
            rest = rest.dropFirst(count)
            if random.oneIn(rarity) {
                let number = anyNumber()
                value = (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            }
        case 2:
            guard let length = Self.takeNumber(&rest), length <= UInt64(rest.count) else {
                return nil
            }
            let content = rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
            let mutated = fields(content, depth: depth + 1) ?? Array(content)
            Self.append(UInt64(mutated.count), to: &value)
            value += mutated
        default: return nil
        }
        return value
    }

    private mutating func anyNumber() -> UInt64 {
        if random.oneIn(4) { return random.next() >> UInt64.random(in: 0..<64, using: &random) }
        return Self.numbers.randomElement(using: &random) ?? 0
    }

    private static func takeNumber(_ bytes: inout ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard let byte = bytes.popFirst() else { return nil }
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
        }
        return nil
    }

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        var number = number
        while number >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: number) | 0x80)
            number >>= 7
        }
        bytes.append(UInt8(number))
    }
}

/// Frames of a service, mutated and decoded as a client reads them.
package final class MutatedAnswers {
    private var mutation: WireMutation
    private var decoder = MessageDecoder()

    package init(seed: UInt64) { mutation = WireMutation(seed: seed) }

    /// A frame with a mutation of a response, in answer to a frame.
    ///
    /// - Parameters:
    ///   - response: The response of a real service.
    ///   - id: The frame that is answered; mostly the mutated frame names it.
    ///   - hasMore: Whether the frame is an event of a watch.
    /// - Returns: The frame; nil where a client cannot decode it.
    package func next(_ response: Response, to id: UInt64, hasMore: Bool = false) -> ServerFrame? {
        let frame = ServerFrame(id: id, revision: 90, response: response, hasMore: hasMore)
        return decode(frame)
    }

    package func next(_ status: Status, to id: UInt64) -> ServerFrame? {
        decode(ServerFrame(id: id, revision: 90, status: status))
    }

    private func decode(_ frame: ServerFrame) -> ServerFrame? {
        guard let bytes = try? frame.encoded() else { return nil }
        let body = mutation.mutate(Array(bytes.dropFirst(FrameHeader.byteCount)))
        let isVote = unsafe VoteAnswerFrame(scanning: body.span.bytes, in: 0..<body.count)
        var decoded = isVote.map { ServerFrame($0) } ?? (try? decoder.decodeServerFrame(body))
        // A client drops the connection at a frame that nobody asked for, so few ids are mutated.
        if let id = decoded?.id, id & 7 != 0 { decoded?.id = frame.id }
        return decoded
    }
}
