import CFaultVFS
import FeedJournal
import FeedTestSupport

/// A fake disk as SQLite knows it: one of its virtual file systems.
///
/// A disk keeps its own as long as it lives, and a database's open files keep their disk.
@safe
final class DatabaseDisk {
    let name: String
    private let vfs: OpaquePointer

    init(_ disk: FakeDisk) {
        name = Self.count.withLock { count in
            count += 1
            return "fake-disk-\(count)"
        }
        // SQLite calls the disk only for databases that a test has open, and it has the disk too.
        let context = unsafe Unmanaged.passUnretained(disk).toOpaque()
        guard let vfs = unsafe fault_vfs_register(name, context, Self.calls) else {
            preconditionFailure("There is no memory for a virtual file system.")
        }
        unsafe self.vfs = vfs
    }

    deinit { unsafe fault_vfs_unregister(vfs) }

    private static let count = Locked(0)

    private static let calls = unsafe fault_vfs_calls(
        open: { disk, name, creates, isLog, file in
            let name = unsafe name.map { unsafe String(cString: $0) }
            return unsafe DatabaseDisk.disk(disk).open(name, creates: creates, isLog: isLog) {
                unsafe file.pointee = Unmanaged.passRetained($0).toOpaque()
            }
        },
        remove: { disk, name, syncsDirectory in
            unsafe DatabaseDisk.disk(disk).remove(
                String(cString: name),
                syncsDirectory: syncsDirectory
            )
        },
        exists: { disk, name, exists in
            unsafe DatabaseDisk.disk(disk).exists(String(cString: name), &exists.pointee)
        },
        close: { file in
            unsafe Unmanaged<DatabaseDiskFile>.fromOpaque(file).release()
        },
        read: { file, bytes, wanted, offset, got in
            let bytes = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: Int(wanted))
            return unsafe DatabaseDisk.file(file).read(into: bytes, at: Int(offset), &got.pointee)
        },
        write: { file, bytes, count, offset in
            let bytes = unsafe UnsafeRawBufferPointer(start: bytes, count: Int(count))
            return unsafe DatabaseDisk.file(file).write(Array(bytes), at: Int(offset))
        },
        truncate: { file, byteCount in
            unsafe DatabaseDisk.file(file).truncate(to: Int(byteCount))
        },
        sync: { file in unsafe DatabaseDisk.file(file).sync() },
        measure: { file, byteCount in
            unsafe DatabaseDisk.file(file).measure(&byteCount.pointee)
        }
    )

    private static func disk(_ pointer: UnsafeMutableRawPointer) -> FakeDisk {
        unsafe Unmanaged<FakeDisk>.fromOpaque(pointer).takeUnretainedValue()
    }

    private static func file(_ pointer: UnsafeMutableRawPointer) -> DatabaseDiskFile {
        unsafe Unmanaged<DatabaseDiskFile>.fromOpaque(pointer).takeUnretainedValue()
    }
}

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
        errorNumber { () throws(StorageError) in
            try disk.call(.read, name)
            let data = content.bytes.dropFirst(offset).prefix(buffer.count)
            unsafe buffer.copyBytes(from: data)
            count = Int32(data.count)
        }
    }

    func write(_ data: [UInt8], at offset: Int) -> Int32 {
        errorNumber { () throws(StorageError) in
            try disk.write(data, count: data.count, to: content, at: offset, name)
        }
    }

    func truncate(to byteCount: Int) -> Int32 {
        errorNumber { () throws(StorageError) in
            try disk.change(.truncate, name)
            content.truncate(to: byteCount)
        }
    }

    func sync() -> Int32 {
        errorNumber { () throws(StorageError) in
            try disk.sync(content, name)
            guard syncsDirectory else { return }
            try disk.syncDirectory(FakeDisk.directory(of: name))
            syncsDirectory = false
        }
    }

    func measure(_ byteCount: inout Int64) -> Int32 {
        errorNumber { () throws(StorageError) in
            try disk.call(.measure, name)
            byteCount = Int64(content.bytes.count)
        }
    }
}
