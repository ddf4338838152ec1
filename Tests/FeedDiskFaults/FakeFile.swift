import FeedJournal
import Glibc

/// A file of a fake disk that the journal has open.
final class FakeFile: JournalFile {
    var name: String
    private let content: FakeContent
    private let disk: FakeDisk

    init(_ name: String, _ content: FakeContent, _ disk: FakeDisk) {
        self.name = name
        self.content = content
        self.disk = disk
    }

    func byteCount() throws(FileError) -> Int {
        try disk.call(.measure, name)
        return content.bytes.count
    }

    func readOnce(
        into bytes: inout [UInt8],
        from index: Int,
        at offset: Int
    ) throws(FileError) -> Int {
        try disk.call(.read, name)
        let available = content.bytes.count - offset
        let count = min(bytes.count - index, available, disk.transferLimit())
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
        let count = min(data.count, disk.transferLimit())
        try disk.write(data, count: count, to: content, at: offset, name)
        return count
    }

    func allocate(byteCount: Int) throws(FileError) {
        do {
            try disk.reserve(max(0, byteCount - content.bytes.count), name)
        } catch {
            // A file system without room for all of it keeps what it has allocated.
            content.grow(to: content.bytes.count + disk.freeByteCount())
            throw error
        }
        try disk.change(.allocate, name)
        content.grow(to: byteCount)
    }

    func sync() throws(FileError) {
        try disk.sync(content, name)
    }
}
