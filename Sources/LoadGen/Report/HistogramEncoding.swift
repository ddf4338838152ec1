internal import CZlib
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
        let header = word(0x1C84_9314) + word(UInt32(stream.count))
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
        var bytes = word(0x1C84_9313) + word(UInt32(counts.count)) + word(0) + word(digits)
        bytes += long(histogram.lowestDiscernibleValue)
        bytes += long(histogram.highestTrackableValue)
        // The last number is a factor; the values are not scaled.
        bytes += long((1.0 as Double).bitPattern)
        return bytes + counts
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
    static func decompressed(_ stream: [UInt8]) -> [UInt8]? {
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

    private static func word(_ value: UInt32) -> [UInt8] { bigEndian(value) }

    private static func long(_ value: UInt64) -> [UInt8] { bigEndian(value) }

    private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        stride(from: value.bitWidth - 8, through: 0, by: -8).map {
            UInt8(truncatingIfNeeded: value >> $0)
        }
    }
}
