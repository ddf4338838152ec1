import FeedAccounts
import Testing

@Suite struct SessionTokenTests {
    /// BLAKE2b of 32 zero bytes, as other implementations compute it.
    @Test func tokenHashIsBLAKE2b() throws {
        let token = try #require(SessionToken(bytes: [UInt8](repeating: 0, count: 32)))
        #expect(
            hex(token.hash.bytes)
                == "89eb0d6a8a691dae2cd15ed0369931ce0a949ecafa5c3f93f8121833646e15c3"
        )
    }

    @Test(arguments: [0, 1, 31, 33, 1 << 20])
    func tokenOfAnotherLengthIsNone(byteCount: Int) {
        #expect(SessionToken(bytes: [UInt8](repeating: 7, count: byteCount)) == nil)
    }

    @Test func newTokensDiffer() {
        let tokens = (0..<64).map { _ in SessionToken().bytes }
        #expect(Set(tokens).count == 64)
        #expect(tokens.allSatisfy { $0.count == 32 })
    }

    @Test func hashKeepsItsBytes() throws {
        let bytes = (0..<32).map { UInt8($0 * 8 + 1) }
        let hash = try #require(TokenHash(bytes: bytes))
        #expect(hash.bytes == bytes)
        #expect(TokenHash(bytes: Array(bytes.dropLast())) == nil)
        for place in 0..<32 {
            var other = bytes
            other[place] ^= 0x10
            #expect(TokenHash(bytes: other) != hash)
        }
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
