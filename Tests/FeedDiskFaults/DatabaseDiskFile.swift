import FeedJournal

/// A file of a fake disk that SQLite has open; its calls answer with error numbers.
final class DatabaseDiskFile {
    private let name: String
    private let content: FakeContent
    private let disk: FakeDisk

    /// Whether the next sync is to make the name durable too.
    private var syncsDirectory: Bool

    init(_ name: String, _ content: FakeContent, _ disk: FakeDisk, syncsDirectory: Bool) {
        self.name = name
        self.content = content
        self.disk = disk
        self.syncsDirectory = syncsDirectory
    }

    /// Reads what there is, up to the whole buffer.
    func read(
        into buffer: UnsafeMutableRawBufferPointer,
        at offset: Int,
        _ count: inout Int32
    ) -> Int32 {
        errorNumber { () throws(FileError) in
            try disk.call(.read, name)
            let data = content.bytes.dropFirst(offset).prefix(buffer.count)
            unsafe buffer.copyBytes(from: data)
            count = Int32(data.count)
        }
    }

    func write(_ data: [UInt8], at offset: Int) -> Int32 {
        errorNumber { () throws(FileError) in
            try disk.write(data, count: data.count, to: content, at: offset, name)
        }
    }

    func truncate(to byteCount: Int) -> Int32 {
        errorNumber { () throws(FileError) in
            try disk.change(.truncate, name)
            content.truncate(to: byteCount)
        }
    }

    func sync() -> Int32 {
        errorNumber { () throws(FileError) in
            try disk.sync(content, name)
            guard syncsDirectory else { return }
            try disk.syncDirectory(FakeDisk.directory(of: name))
            syncsDirectory = false
        }
    }

    func measure(_ byteCount: inout Int64) -> Int32 {
        errorNumber { () throws(FileError) in
            try disk.call(.measure, name)
            byteCount = Int64(content.bytes.count)
        }
    }
}
