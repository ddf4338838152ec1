import FeedTestSupport

/// A file's bytes, and what each block of them has been since the last sync.
final class FakeContent {
    private static let blockByteCount = 4096
    private static let sectorByteCount = 512

    private(set) var bytes: [UInt8]

    /// The lengths since the last sync, the durable one first.
    private var byteCounts: [Int]

    /// The contents of a block since the last sync, the durable one first.
    private var versions: [Int: [[UInt8]]] = [:]

    /// Blocks that a failed sync has left in memory, where later syncs do not look for them.
    private var abandoned: Set<Int> = []

    /// What there was before it was last cut off, if no sync came since.
    private var untruncated: FakeContent?

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        byteCounts = [bytes.count]
    }

    private init(copying content: FakeContent) {
        bytes = content.bytes
        byteCounts = content.byteCounts
        versions = content.versions
        abandoned = content.abandoned
        untruncated = content.untruncated
    }

    func grow(to byteCount: Int) {
        guard byteCount > bytes.count else { return }
        bytes.append(contentsOf: repeatElement(0, count: byteCount - bytes.count))
        byteCounts.append(byteCount)
    }

    /// Cuts the file off, at once and wholly: a file system journals what it does to a file's size.
    ///
    /// So after a power cut either all is there that was there before, or nothing of what was cut.
    func truncate(to byteCount: Int) {
        guard byteCount < bytes.count else { return }
        untruncated = FakeContent(copying: self)
        bytes.removeLast(bytes.count - byteCount)
        byteCounts = [byteCount]
        for (block, states) in versions {
            let rest = byteCount - block * Self.blockByteCount
            versions[block] = rest > 0 ? states.map { Array($0.prefix(rest)) } : nil
        }
        abandoned = abandoned.filter { versions[$0] != nil }
    }

    func write(_ data: some RandomAccessCollection<UInt8>, at offset: Int) {
        guard !data.isEmpty else { return }
        grow(to: offset + data.count)
        let range = offset..<offset + data.count
        changing(range) { bytes.replaceSubrange(range, with: data) }
    }

    func sync() {
        // What one failed sync gave up is written by none, until it is written to again.
        versions = versions.filter { abandoned.contains($0.key) }
        byteCounts = [bytes.count]
        untruncated = nil
    }

    /// A sync that failed: the system may forget that these blocks are not on the disk.
    func abandonUnsynced() {
        abandoned.formUnion(versions.keys)
    }

    /// Each block as it was at one of its times, or sectors of it at different ones.
    func surviving(_ fate: PowerCutFate, _ generator: inout SeededGenerator) -> [UInt8] {
        if let untruncated, !fate.keepsChange(&generator) {
            return untruncated.surviving(fate, &generator)
        }
        let byteCount = fate.pick(byteCounts, &generator)
        var result = Array(bytes.prefix(byteCount))
        result.append(contentsOf: repeatElement(0, count: byteCount - result.count))
        for (block, versions) in versions.sorted(by: { $0.key < $1.key }) {
            let isTorn = generator.oneIn(3)
            var version = fate.pick(versions, &generator)
            let start = block * Self.blockByteCount
            for offset in stride(from: 0, to: Self.blockByteCount, by: Self.sectorByteCount) {
                if isTorn { version = fate.pick(versions, &generator) }
                let end = min(offset + Self.sectorByteCount, byteCount - start)
                guard offset < end else { break }
                let sector = version.dropFirst(offset).prefix(end - offset)
                let zeros = repeatElement(UInt8(0), count: end - offset - sector.count)
                result.replaceSubrange(start + offset..<start + end, with: sector + zeros)
            }
        }
        return result
    }

    /// Remembers the blocks of a range as they are before and after a change.
    private func changing(_ range: Range<Int>, _ change: () -> Void) {
        let first = range.lowerBound / Self.blockByteCount
        let blocks = first...(range.upperBound - 1) / Self.blockByteCount
        for block in blocks where versions[block] == nil { versions[block] = [content(block)] }
        change()
        for block in blocks {
            versions[block]?.append(content(block))
            // Of more than that, none is picked.
            if versions[block]?.count == 5 { versions[block]?.remove(at: 1) }
            abandoned.remove(block)
        }
    }

    private func content(_ block: Int) -> [UInt8] {
        let start = min(block * Self.blockByteCount, bytes.count)
        return Array(bytes[start..<min(start + Self.blockByteCount, bytes.count)])
    }
}
