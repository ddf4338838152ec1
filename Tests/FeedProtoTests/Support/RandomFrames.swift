import FeedProto
import FeedTestSupport

/// Bodies of frames of every kind, from whole ones to noise.
///
/// Most have the contract's fields in any order and number, with any values: texts that are none, numbers
/// with more bytes than they need, lists packed or not, unknown fields and, in some of the frames, fields of
/// a wrong type and damaged bytes.
struct RandomFrames {
    private static let samples =
        ((try? Samples.clientFrames.map { try $0.encoded() }) ?? [])
        + ((try? Samples.serverFrames.map { try $0.encoded() }) ?? [])
    private static let numbers: [UInt64] = [
        0, 1, 2, 127, 128, 1 << 31 - 1, 1 << 31, 1 << 32 - 1, 1 << 32, 1 << 56, 1 << 63, .max,
    ]
    private static let texts: [[UInt8]] = [
        [], Array("a".utf8), Array("Ada é € 🍎".utf8), Array(repeating: 97, count: 130), [0], [0xFF],
        [97, 0], [0xE2, 0x82], [0xED, 0xA0, 0x80], Array(repeating: 0xC3, count: 40),
    ]

    private var random: SeededGenerator
    private var mutation: WireMutation
    /// How seldom a field of this frame is no protobuf: one of so many.
    private var rarity = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        mutation = WireMutation(seed: seed &+ 1 << 32)
    }

    mutating func next() -> [UInt8] {
        rarity = random.oneIn(2) ? .max : Int.random(in: 8...64, using: &random)
        var body: [UInt8]
        switch Int.random(in: 0..<16, using: &random) {
        case 0: body = random.bytes(Int.random(in: 0...24, using: &random))
        case 1...3:
            let sample = Self.samples.randomElement(using: &random) ?? []
            body = mutation.mutate(Array(sample.dropFirst(FrameHeader.byteCount)))
        case 4...9: body = message(ClientFrameShape.self)
        default: body = message(ServerFrameShape.self)
        }
        if random.oneIn(6) { damage(&body) }
        return body
    }

    private mutating func message(_ shape: any MessageShape.Type) -> [UInt8] {
        var bytes: [UInt8] = []
        let most = random.oneIn(24) ? 60 : 5
        for _ in 0..<Int.random(in: 0...most, using: &random) {
            if shape.fieldCount == 0 || random.oneIn(12) {
                bytes += unknownField()
            } else {
                bytes += field(shape.field(Int.random(in: 0..<shape.fieldCount, using: &random)))
            }
        }
        return bytes
    }

    private mutating func field(_ shape: FieldShape) -> [UInt8] {
        var (type, content) = value(of: shape.kind)
        if shape.label == .repeated, type == 0, random.oneIn(2) {
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                content += random.oneIn(2) ? value(of: shape.kind).content : []
            }
            type = 2
            content = padded(UInt64(content.count), most: 5) + content
        }
        if rarity < .max, random.oneIn(rarity) { type = UInt64.random(in: 0...7, using: &random) }
        return tag(shape.number, type) + content
    }

    /// The type on the wire and the bytes of a value.
    private mutating func value(of kind: FieldShape.Kind) -> (type: UInt64, content: [UInt8]) {
        switch kind {
        case .uint32, .int32, .uint64, .bool: return (0, padded(number(), most: 10))
        case .fixed64:
            let number = number()
            return (1, (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
        case .bytes: return (2, withLength(text()))
        case .message(let shape): return (2, withLength(message(shape)))
        }
    }

    private mutating func unknownField() -> [UInt8] {
        let numbers: [UInt32] = [0, 16, 99, 2047, 1 << 29 - 1, 1 << 29, .max]
        let number = rarity == .max ? 99 : numbers.randomElement(using: &random) ?? 0
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return tag(number, 0) + padded(self.number(), most: 10)
        case 1: return tag(number, 1) + random.bytes(8)
        case 2: return tag(number, 5) + random.bytes(4)
        default: return tag(number, 2) + withLength(text())
        }
    }

    private mutating func text() -> [UInt8] {
        if rarity == .max { return random.oneIn(4) ? [] : Self.texts[random.oneIn(3) ? 3 : 2] }
        return Self.texts.randomElement(using: &random) ?? []
    }

    private mutating func number() -> UInt64 {
        if random.oneIn(2) { return Self.numbers.randomElement(using: &random) ?? 0 }
        return random.next() >> UInt64.random(in: 0..<64, using: &random)
    }

    private mutating func withLength(_ bytes: [UInt8]) -> [UInt8] {
        padded(UInt64(bytes.count), most: 5) + bytes
    }

    private mutating func tag(_ number: UInt32, _ type: UInt64) -> [UInt8] {
        padded(UInt64(number) << 3 | type, most: 5)
    }

    /// A number in its shortest form, or in one with up to so many bytes, or of too many.
    private mutating func padded(_ number: UInt64, most byteCount: Int) -> [UInt8] {
        var bytes = Wire.varint(number)
        guard rarity < .max, random.oneIn(rarity), let last = bytes.popLast() else { return bytes }
        let padding = Int.random(in: 0...max(0, byteCount - bytes.count), using: &random)
        guard padding > 0 else { return bytes + [last | UInt8(random.oneIn(4) ? 0x70 : 0)] }
        return bytes + [last | 0x80] + Array(repeating: 0x80, count: padding - 1)
            + [random.oneIn(4) ? 0x7E : 0]
    }

    private mutating func damage(_ body: inout [UInt8]) {
        guard let place = body.indices.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<5, using: &random) {
        case 0: body[place] = UInt8.random(in: .min ... .max, using: &random)
        case 1: body[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 2: body.remove(at: place)
        case 3: body.removeSubrange(place...)
        default: body.insert(contentsOf: body[place...], at: place)
        }
    }
}
