import FeedProto
import Testing

@Suite struct FrameScannerTests {
    let scanner = FrameScanner(maximumFrameByteCount: 1000)

    @Test(arguments: 0..<7)
    func waitsForWholeFrame(count: Int) throws {
        let bytes = Array(Wire.framed([1, 2, 3]).prefix(count))
        #expect(try scanner.nextBody(in: bytes.span, at: 0) == nil)
    }

    @Test func findsFramesOneAfterAnother() throws {
        let bytes = Wire.framed([1, 2, 3]) + Wire.framed([4]) + [0, 0]
        #expect(try scanner.nextBody(in: bytes.span, at: 0) == 4..<7)
        #expect(try scanner.nextBody(in: bytes.span, at: 7) == 11..<12)
        #expect(try scanner.nextBody(in: bytes.span, at: 12) == nil)
        #expect(try scanner.nextBody(in: bytes.span, at: bytes.count) == nil)
    }

    @Test func acceptsFrameAtLimit() throws {
        let bytes = Wire.framed([UInt8](repeating: 1, count: 1000))
        #expect(try scanner.nextBody(in: bytes.span, at: 0) == 4..<1004)
    }

    @Test func rejectsEmptyFrame() {
        #expect(throws: FrameError.empty) {
            try scanner.nextBody(in: [0, 0, 0, 0].span, at: 0)
        }
    }

    /// A length alone is enough: nothing waits for bytes that will not be accepted.
    @Test(
        arguments: [
            ([0, 0, 0x03, 0xE9], 1001),
            ([0xFF, 0xFF, 0xFF, 0xFF], 0xFFFF_FFFF),
            ([0x80, 0, 0, 0], 0x8000_0000),
            (Array("GET ".utf8), 0x4745_5420),
            ([0x16, 0x03, 0x01, 0x02], 0x1603_0102),
        ] as [([UInt8], UInt64)]
    )
    func rejectsLengthOverLimit(header: [UInt8], length: UInt64) {
        #expect(throws: FrameError.tooLarge(length: length, limit: 1000)) {
            try scanner.nextBody(in: header.span, at: 0)
        }
    }

    @Test func namesLengthAndLimit() {
        let error = FrameError.tooLarge(length: 1_048_577, limit: 1_048_576)
        #expect(
            error.description == "Frame of 1048577 bytes exceeds the limit of 1048576 bytes."
        )
    }
}
