import FeedCalls
import Testing

@Suite struct SipHashTests {
    // The key 00 01 … 0f and messages 00 01 … of the reference implementation's vectors.
    static let key0: UInt64 = 0x0706_0504_0302_0100
    static let key1: UInt64 = 0x0f0e_0d0c_0b0a_0908

    @Test(
        arguments: [
            (0, 0x726f_db47_dd0e_0e31),
            (1, 0x74f8_39c5_93dc_67fd),
            (7, 0xab02_00f5_8b01_d137),
            (8, 0x93f5_f579_9a93_2462),
            (15, 0xa129_ca61_49be_45e5),
        ] as [(Int, UInt64)]
    )
    func agreesWithTheReference(_ byteCount: Int, _ checksum: UInt64) {
        let message = (0..<byteCount).map { UInt8($0) }
        #expect(SipHash.checksum(of: message.span, key0: Self.key0, key1: Self.key1) == checksum)
    }

    @Test func dependsOnTheKey() {
        let message: [UInt8] = [1, 2, 3]
        let one = SipHash.checksum(of: message.span, key0: 1, key1: 2)
        #expect(one != SipHash.checksum(of: message.span, key0: 1, key1: 3))
        #expect(one != SipHash.checksum(of: message.span, key0: 2, key1: 2))
    }
}
