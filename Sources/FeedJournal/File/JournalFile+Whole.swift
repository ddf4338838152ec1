import Glibc

/// Zeros to write from, a piece at a time.
private let zeros = [UInt8](repeating: 0, count: 1 << 20)

extension JournalFile {
    /// Writes both pieces whole, however little of them the system takes at a time.
    func write(
        _ first: Span<UInt8>,
        _ second: Span<UInt8>,
        at offset: Int
    ) throws(FileError) {
        let byteCount = first.count + second.count
        var written = 0
        while written < byteCount {
            do throws(FileError) {
                // No call begins with an empty piece: one that takes a single piece takes nothing.
                let count =
                    written < first.count
                    ? try writeOnce(
                        first.extracting(droppingFirst: written),
                        second,
                        at: offset + written
                    )
                    : try writeOnce(
                        second.extracting(droppingFirst: written - first.count),
                        Span(),
                        at: offset + written
                    )
                // A system that takes nothing and gives no reason would keep us here forever.
                guard count > 0 else { throw FileError("write", name, code: EIO) }
                written += count
            } catch {
                guard error.isInterruption else { throw error }
            }
        }
    }

    /// Writes one piece whole.
    package func write(_ bytes: Span<UInt8>, at offset: Int) throws(FileError) {
        try write(bytes, Span(), at: offset)
    }

    /// Writes zeros over a range.
    func writeZeros(_ range: Range<Int>) throws(FileError) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = min(zeros.count, range.upperBound - offset)
            try write(zeros.span.extracting(first: count), at: offset)
            offset += count
        }
    }

    /// Reads a range, less where the file ends before it.
    package func read(_ range: Range<Int>) throws(FileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        var count = 0
        while count < bytes.count {
            do throws(FileError) {
                let read = try readOnce(
                    into: &bytes,
                    from: count,
                    at: range.lowerBound + count
                )
                guard read > 0 else { break }
                count += read
            } catch {
                guard error.isInterruption else { throw error }
            }
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}
