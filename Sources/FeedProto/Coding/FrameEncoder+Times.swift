// The times that a service adds to an answer, whose frame is encoded before they are known.
extension FrameEncoder {
    /// The bytes of the times with their tag and length: three numbers of eight bytes with tags.
    private static var timesByteCount: Int { 2 + 3 * (1 + MemoryLayout<UInt64>.size) }

    /// Adds the times of a call to the answer that was appended last.
    ///
    /// They become the last field of the frame, and when the answer was released its last eight bytes.
    ///
    /// - Parameters:
    ///   - times: When the service had the call.
    ///   - start: Where the frame begins in the bytes: ``byteCount`` before it was appended.
    /// - Returns: False where the frame limit leaves no room, so that nothing is added.
    package mutating func append(_ times: CallTimes, toFrameAt start: Int) -> Bool {
        let length = output.byteCount - start - FrameHeader.byteCount
        precondition(start >= 0 && length > 0, "Times are added to a frame.")
        let newLength = length + Self.timesByteCount
        guard newLength <= maximumFrameByteCount else { return false }
        var offset = output.byteCount
        output.appendZeros(Self.timesByteCount)
        output.store(0x2A as UInt8, at: offset)
        output.store(UInt8(Self.timesByteCount - 2), at: offset + 1)
        offset += 2
        let numbers: InlineArray<3, UInt64> = [
            times.receivedNanoseconds, times.executedNanoseconds, times.releasedNanoseconds,
        ]
        let tags: InlineArray<3, UInt8> = [0x09, 0x11, 0x19]
        for index in numbers.indices {
            output.store(tags[index], at: offset)
            output.store(numbers[index].littleEndian, at: offset + 1)
            offset += 1 + MemoryLayout<UInt64>.size
        }
        output.store(UInt32(newLength).bigEndian, at: start)
        return true
    }

    /// Sets when the answer with times was released that ends at an offset of the bytes.
    package mutating func setReleaseTime(_ nanoseconds: UInt64, endingAt end: Int) {
        output.store(nanoseconds.littleEndian, at: end - MemoryLayout<UInt64>.size)
    }
}
