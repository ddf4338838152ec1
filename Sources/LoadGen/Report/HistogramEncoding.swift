import CZlib
import Foundation
import Histogram

/// Histograms in the form that every HdrHistogram tool reads: the V2 encoding, compressed, in base
/// 64.
///
/// The format is the one of HdrHistogram's `encodeIntoCompressedByteBuffer`, which compresses with
/// zlib.
package enum HistogramEncoding {
    /// The text, which starts with `HISTFAAA`.
    package static func base64(_ histogram: LatencyHistogram) -> String {
        let stream = compressed(encoded(histogram))
        let header = [0x1C84_9314, UInt32(stream.count)].flatMap(bigEndian)
        return Data(header + stream).base64EncodedString()
    }

    /// The V2 encoding: a header of 40 bytes, then the counts by index in ZigZag LEB128, where a
    /// negative number stands for that many empty buckets.
    package static func encoded(_ histogram: LatencyHistogram) -> [UInt8] {
        var counts: [UInt8] = []
        var emptyCount: Int64 = 0
        var seen: UInt64 = 0
        for bucket in histogram.allValues() {
            // Only empty buckets follow the last recorded value.
            if seen == histogram.totalCount { break }
            seen += bucket.count
            guard bucket.count > 0 else {
                emptyCount += 1
                continue
            }
            if emptyCount > 0 { appendZigZag(-emptyCount, to: &counts) }
            emptyCount = 0
            appendZigZag(Int64(bitPattern: bucket.count), to: &counts)
        }
        let digits = UInt32(bitPattern: Int32(histogram.numberOfSignificantValueDigits.rawValue))
        let words = [0x1C84_9313, UInt32(counts.count), 0, digits]
        // The last number is a factor; the values are not scaled.
        let numbers = [
            histogram.lowestDiscernibleValue, histogram.highestTrackableValue,
            (1.0 as Double).bitPattern,
        ]
        return words.flatMap(bigEndian) + numbers.flatMap(bigEndian) + counts
    }

    private static func appendZigZag(_ value: Int64, to bytes: inout [UInt8]) {
        var rest = UInt64(bitPattern: value << 1 ^ value >> 63)
        // LEB128 of 64 bits in at most 9 bytes: the ninth byte holds 8 bits and no continuation
        // bit.
        for _ in 0..<8 {
            if rest < 0x80 { break }
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    private static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        var byteCount = compressBound(uLong(bytes.count))
        return unsafe [UInt8](unsafeUninitializedCapacity: Int(byteCount)) { stream, count in
            let status = unsafe bytes.withUnsafeBufferPointer { bytes in
                let count = uLong(bytes.count)
                return unsafe compress(stream.baseAddress, &byteCount, bytes.baseAddress, count)
            }
            precondition(status == Z_OK, "The bound leaves room for every stream.")
            count = Int(byteCount)
        }
    }

    /// What ``compressed(_:)`` compressed; nil where `stream` is no stream, or a longer one than of
    /// any histogram.
    private static func decompressed(_ stream: [UInt8]) -> [UInt8]? {
        var byteCount = uLong(mostBytes)
        var status = Z_OK
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: mostBytes) { bytes, count in
            status = unsafe stream.withUnsafeBufferPointer { stream in
                let count = uLong(stream.count)
                return unsafe uncompress(bytes.baseAddress, &byteCount, stream.baseAddress, count)
            }
            count = status == Z_OK ? Int(byteCount) : 0
        }
        return status == Z_OK ? bytes : nil
    }

    /// The header, and nine bytes for each of the buckets of a histogram.
    private static let mostBytes = 40 + 9 * (32 << 10)

    private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        stride(from: value.bitWidth - 8, through: 0, by: -8).map {
            UInt8(truncatingIfNeeded: value >> $0)
        }
    }

    /// The histogram that ``base64(_:)`` encoded; nil where `text` is none of those.
    package static func histogram(base64 text: String) -> LatencyHistogram? {
        guard let data = Data(base64Encoded: text) else { return nil }
        let bytes = [UInt8](data)
        guard number(bytes, 0, 4) == 0x1C84_9314, let length = number(bytes, 4, 4),
            Int(length) == bytes.count - 8
        else { return nil }
        return decompressed(Array(bytes[8...])).flatMap(decoded)
    }

    /// Reads what ``encoded(_:)`` made: a histogram on the scale of ``LatencyScale``.
    package static func decoded(_ bytes: [UInt8]) -> LatencyHistogram? {
        var histogram = LatencyScale.makeHistogram()
        let digits = UInt64(histogram.numberOfSignificantValueDigits.rawValue)
        guard bytes.count >= 40, number(bytes, 0, 4) == 0x1C84_9313, number(bytes, 8, 4) == 0,
            number(bytes, 12, 4) == digits,
            number(bytes, 16, 8) == histogram.lowestDiscernibleValue,
            number(bytes, 24, 8) == LatencyScale.highestNanoseconds
        else { return nil }
        var offset = 40
        var index: UInt64 = 0
        var total: UInt64 = 0
        var nanoseconds: UInt64 = 0
        while offset < bytes.count {
            guard let count = zigZag(bytes, &offset), count != 0 else { return nil }
            guard count > 0 else {
                index += count.magnitude
                guard index < Self.mostBuckets else { return nil }
                continue
            }
            let (sum, isTooMuch) = total.addingReportingOverflow(UInt64(count))
            let value = value(at: index)
            guard !isTooMuch, sum <= Int64.max, value <= LatencyScale.highestNanoseconds else {
                return nil
            }
            total = sum
            let (product, isTooLong) = UInt64(count).multipliedReportingOverflow(by: max(value, 64))
            guard !isTooLong, product <= Self.mostNanoseconds - nanoseconds else { return nil }
            nanoseconds += product
            histogram.record(value, count: UInt64(count))
            index += 1
        }
        return histogram
    }

    /// The most that all latencies of a histogram are together: Histogram adds them up in 64 bits, and
    /// those of five operations are added.
    private static let mostNanoseconds: UInt64 = 1 << 61

    /// The lowest value of a bucket, by the formula of the format: 2,048 linear buckets from 0 on,
    /// then 1,024 for each doubling, in units of the lowest power of two that is kept apart.
    private static func value(at index: UInt64) -> UInt64 {
        let unit = UInt64(LatencyScale.lowestNanoseconds.trailingZeroBitCount)
        let (doubling, place) = (index >> 10, index & 1023)
        return doubling == 0 ? place << unit : (place + 1024) << (doubling - 1 + unit)
    }

    /// More buckets than the scale has, and few enough for every shift.
    private static let mostBuckets: UInt64 = 32 << 10

    private static func zigZag(_ bytes: [UInt8], _ offset: inout Int) -> Int64? {
        var value: UInt64 = 0
        for place in 0..<9 {
            guard offset < bytes.count else { return nil }
            let byte = UInt64(bytes[offset])
            offset += 1
            // The ninth byte holds 8 bits and no continuation bit.
            if place == 8 { return unfolded(value | byte << 56) }
            value |= (byte & 0x7F) << (7 * place)
            if byte < 0x80 { return unfolded(value) }
        }
        return nil
    }

    private static func unfolded(_ value: UInt64) -> Int64 {
        Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    private static func number(_ bytes: [UInt8], _ offset: Int, _ byteCount: Int) -> UInt64? {
        guard offset + byteCount <= bytes.count else { return nil }
        return bytes[offset..<offset + byteCount].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
