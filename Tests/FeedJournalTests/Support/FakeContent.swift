import FeedJournal
import FeedTestSupport
import Glibc

/// What a power cut does with writes that were not synced.
struct PowerCutFate {
    private let keptPercent: Int

    /// Draws whether all is lost, all kept, or some of each.
    init(_ generator: inout SeededGenerator) {
        keptPercent = [0, 20, 50, 80, 100].randomElement(using: &generator) ?? 50
    }

    func keepsChange(_ generator: inout SeededGenerator) -> Bool {
        Int.random(in: 0..<100, using: &generator) < keptPercent
    }
}

/// A file's bytes, and what each block has been since the last sync.
final class FakeContent {
    private static let blockByteCount = 4096
    private static let sectorByteCount = 512

    private(set) var bytes: [UInt8]
    private var durableByteCount: Int

    /// The contents of a block since the last sync, the durable one first.
    private var versions: [Int: [[UInt8]]] = [:]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        durableByteCount = bytes.count
    }

    func grow(to byteCount: Int) {
        guard byteCount > bytes.count else { return }
        bytes.append(contentsOf: repeatElement(0, count: byteCount - bytes.count))
    }

    func write(_ data: ArraySlice<UInt8>, at offset: Int) {
        guard !data.isEmpty else { return }
        grow(to: offset + data.count)
        let blocks =
            offset / Self.blockByteCount...(offset + data.count - 1) / Self.blockByteCount
        for block in blocks where versions[block] == nil { versions[block] = [content(block)] }
        bytes.replaceSubrange(offset..<offset + data.count, with: data)
        for block in blocks { versions[block]?.append(content(block)) }
    }

    func sync() {
        versions = [:]
        durableByteCount = bytes.count
    }

    /// Each block as it was at one of its times, or sectors of it at different ones.
    func surviving(_ fate: PowerCutFate, _ generator: inout SeededGenerator) -> [UInt8] {
        var result = bytes
        for (block, versions) in versions.sorted(by: { $0.key < $1.key }) {
            let isTorn = generator.oneIn(3)
            var version = pick(versions, fate, &generator)
            let start = block * Self.blockByteCount
            for offset in stride(from: 0, to: Self.blockByteCount, by: Self.sectorByteCount) {
                if isTorn { version = pick(versions, fate, &generator) }
                let end = min(offset + Self.sectorByteCount, result.count - start)
                guard offset < end else { break }
                for index in offset..<end {
                    result[start + index] = index < version.count ? version[index] : 0
                }
            }
        }
        let keepsSize = fate.keepsChange(&generator)
        return keepsSize ? result : Array(result.prefix(durableByteCount))
    }

    private func pick(
        _ versions: [[UInt8]],
        _ fate: PowerCutFate,
        _ generator: inout SeededGenerator
    ) -> [UInt8] {
        guard fate.keepsChange(&generator) else { return versions[0] }
        return versions[
            Int.random(in: max(0, versions.count - 3)..<versions.count, using: &generator)
        ]
    }

    private func content(_ block: Int) -> [UInt8] {
        let start = block * Self.blockByteCount
        return Array(bytes[start..<min(start + Self.blockByteCount, bytes.count)])
    }
}

/// An open file of a fake directory.
final class FakeFile: JournalFile {
    var name: String
    private let content: FakeContent
    private let files: FakeFiles

    init(_ name: String, _ content: FakeContent, _ files: FakeFiles) {
        self.name = name
        self.content = content
        self.files = files
    }

    func byteCount() throws(FileError) -> Int {
        try files.call(.measure, name)
        return content.bytes.count
    }

    func readOnce(
        into bytes: inout [UInt8],
        from index: Int,
        at offset: Int
    ) throws(FileError) -> Int {
        try files.call(.read, name)
        let available = content.bytes.count - offset
        let count = min(bytes.count - index, available, files.transferLimit())
        guard count > 0 else { return 0 }
        let data = content.bytes[offset..<offset + count]
        bytes.replaceSubrange(index..<index + count, with: data)
        return count
    }

    func writeOnce(
        _ first: Span<UInt8>,
        _ second: Span<UInt8>,
        at offset: Int
    ) throws(FileError) -> Int {
        var data: [UInt8] = []
        for index in first.indices { data.append(first[index]) }
        for index in second.indices { data.append(second[index]) }
        let count = min(data.count, files.transferLimit())
        try files.reserve(max(0, offset + count - content.bytes.count), name)
        do {
            try files.change(.write, name)
        } catch {
            // What was under way when the power went may be on the disk in part.
            if files.isDead { content.write(data[...], at: offset) }
            throw error
        }
        content.write(data.prefix(count), at: offset)
        return count
    }

    func allocate(byteCount: Int) throws(FileError) {
        try files.reserve(max(0, byteCount - content.bytes.count), name)
        try files.change(.allocate, name)
        content.grow(to: byteCount)
    }

    func startWriting(_ range: Range<Int>) {}

    func sync() throws(FileError) {
        try files.change(.sync, name)
        content.sync()
    }
}
