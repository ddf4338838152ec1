import FeedProto
import FeedTestSupport
import Testing

/// Random damage to valid frames is an error or another message, and never a crash.
@Suite struct FuzzTests {
    private static let bodies =
        (try? Samples.clientFrames.map { try $0.encoded() }).map {
            $0 + ((try? Samples.serverFrames.map { try $0.encoded() }) ?? [])
        } ?? []

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func survivesDamage(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var decoder = MessageDecoder()
        var decoded = 0
        var refused = 0
        for _ in 0..<4000 {
            var body = Array(try #require(Self.bodies.randomElement(using: &random)).dropFirst(4))
            for _ in 0..<Int.random(in: 1...4, using: &random) { damage(&body, &random) }
            do {
                let call = try decoder.decodeClientFrame(body)
                decoded += 1
                if !body.isEmpty, call != ClientFrame(id: 0, request: nil) {
                    let again = try decoder.decodeClientFrame(Array(call.encoded().dropFirst(4)))
                    #expect(again == call, "seed \(seed)")
                }
            } catch is MessageError {
                refused += 1
            }
            _ = try? decoder.decodeServerFrame(body)
        }
        #expect(decoded > 100 && refused > 100, "Both outcomes are tried; seed \(seed).")
        #expect(decoder.reservedByteCount <= 64 << 10, "seed \(seed)")
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func survivesNoise(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var decoder = MessageDecoder()
        var frames = FrameDecoder(maximumFrameByteCount: 100)
        for _ in 0..<4000 {
            let count = Int.random(in: 0...60, using: &random)
            let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            _ = try? decoder.decodeClientFrame(noise)
            _ = try? decoder.decodeServerFrame(noise)
            frames.append(noise)
            do {
                while let body = try frames.nextBody() { #expect(body.count <= 100) }
            } catch {
                frames = FrameDecoder(maximumFrameByteCount: 100)
            }
        }
        #expect(decoder.reservedByteCount <= 64 << 10, "seed \(seed)")
    }

    private func damage(_ body: inout [UInt8], _ random: inout SeededGenerator) {
        guard let place = body.indices.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: body[place] = UInt8.random(in: 0...255, using: &random)
        case 1: body[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 2: body.remove(at: place)
        case 3: body.insert(UInt8.random(in: 0...255, using: &random), at: place)
        case 4: body.removeSubrange(place...)
        default:
            let end = Int.random(in: place..<body.endIndex, using: &random)
            body.insert(contentsOf: body[place...end], at: place)
        }
    }
}
