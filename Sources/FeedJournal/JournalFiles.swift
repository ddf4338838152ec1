@_exported public import FeedStorage
import Glibc

/// The files of one data directory, as far as the journal needs them; names are relative to it.
///
/// Everything that the journal keeps passes through here, so that tests can put a disk behind it
/// that loses power, fills up and fails.
package protocol JournalFiles: AnyObject {
    /// The names in a directory, in any order.
    func names(in directory: String) throws(StorageError) -> [String]

    /// Makes a directory; one that is there already is no error.
    func createDirectory(_ name: String) throws(StorageError)

    /// Opens a file that is there, nil if none is.
    func open(_ name: String) throws(StorageError) -> (any JournalFile)?

    /// Makes an empty file in place of any that was there.
    func create(_ name: String) throws(StorageError) -> any JournalFile

    /// Gives a file another name, in one step; a file that had that name is gone.
    func rename(_ name: String, to newName: String) throws(StorageError)

    /// Removes a file; one that is not there is no error.
    func remove(_ name: String) throws(StorageError)

    /// Removes a directory; one that is not empty is an error, one that is not there is none.
    func removeDirectory(_ name: String) throws(StorageError)

    /// Makes the entries of a directory durable, "." being the data directory's own.
    func syncDirectory(_ name: String) throws(StorageError)

    /// What makes the entries that a directory has now durable, on any thread.
    func directorySync(_ name: String) throws(StorageError) -> any FileSync

    /// The bytes that the file system of a directory still has for us, "." being the data
    /// directory: a directory below it may be a link to another file system.
    func freeByteCount(in directory: String) throws(StorageError) -> Int

    /// Gives up the lock of the directory: another program may change it from now on, and nobody
    /// does through this value any more.
    func unlock()

    /// What tells a file from a copy of it; nil if the disk keeps nothing of the kind.
    func identity(of name: String) throws(StorageError) -> FileIdentity?
}

extension JournalFiles {
    package func freeByteCount() throws(StorageError) -> Int { try freeByteCount(in: ".") }

    package func identity(of name: String) throws(StorageError) -> FileIdentity? { nil }

    /// The first bytes of a file, fewer if it has fewer; nil if there is none.
    package func begin(of name: String, byteCount: Int) throws(StorageError) -> [UInt8]? {
        try open(name)?.read(0..<byteCount)
    }
}

/// One open file, read and written at offsets; closed when the last reference goes.
package protocol JournalFile: AnyObject {
    /// Its name below the data directory, for messages; the code that renames the file sets it.
    var name: String { get set }

    func byteCount() throws(StorageError) -> Int

    /// Fills the array from an index on with what one call of the system gives; 0 at the end.
    func readOnce(
        into bytes: inout [UInt8],
        from index: Int,
        at offset: Int
    ) throws(StorageError) -> Int

    /// Writes two pieces, one after the other, as far as one call of the system takes them.
    func writeOnce(
        _ first: Span<UInt8>,
        _ second: Span<UInt8>,
        at offset: Int
    ) throws(StorageError) -> Int

    /// Grows the file to that size, with its blocks taken from the file system; it reads as zeros.
    func allocate(byteCount: Int) throws(StorageError)

    /// Returns when what was written is on the disk, with the metadata that reading it needs.
    func sync() throws(StorageError)

    /// What makes that durable on another thread, while the file's own one writes on.
    var fileSync: any FileSync { get }
}

/// A sync of a file or directory that any thread may make, also when the file has another name or none.
///
/// It is made once: after a failure another one would succeed without the data.
package protocol FileSync: Sendable {
    func sync() throws(StorageError)
}

/// Zeros to write from, a piece at a time.
private let zeros = [UInt8](repeating: 0, count: 1 << 20)

extension JournalFile {
    /// Writes both pieces whole, however little of them the system takes at a time.
    func write(_ first: Span<UInt8>, _ second: Span<UInt8>, at offset: Int) throws(StorageError) {
        let byteCount = first.count + second.count
        var written = 0
        while written < byteCount {
            do throws(StorageError) {
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
                guard count > 0 else { throw .system("write", name, code: EIO) }
                written += count
            } catch {
                guard error.isInterruption else { throw error }
            }
        }
    }

    package func write(_ bytes: Span<UInt8>, at offset: Int) throws(StorageError) {
        try write(bytes, Span(), at: offset)
    }

    func writeZeros(_ range: Range<Int>) throws(StorageError) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = min(zeros.count, range.upperBound - offset)
            try write(zeros.span.extracting(first: count), at: offset)
            offset += count
        }
    }

    /// Reads a range, less if the file ends before it.
    package func read(_ range: Range<Int>) throws(StorageError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        var count = 0
        while count < bytes.count {
            do throws(StorageError) {
                let read = try readOnce(into: &bytes, from: count, at: range.lowerBound + count)
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

/// What tells a file from a copy of it: a copy's inode was made at another time.
package struct FileIdentity: Equatable, Sendable {
    package var inode: UInt64
    /// When the inode was made, in nanoseconds since 1970; 0 if the file system keeps no time.
    package var birthNanoseconds: UInt64

    package init(inode: UInt64, birthNanoseconds: UInt64) {
        self.inode = inode
        self.birthNanoseconds = birthNanoseconds
    }

    /// Whether two identities may be of one file.
    ///
    /// The birth alone decides, if both are known: inode numbers are given again, and some file
    /// systems number anew at each mount. A file system that keeps no birth cannot tell.
    package func isSameFile(as other: FileIdentity) -> Bool {
        guard birthNanoseconds != 0, other.birthNanoseconds != 0 else { return true }
        return birthNanoseconds == other.birthNanoseconds
    }
}

extension [UInt8] {
    package init(copying bytes: Span<UInt8>) {
        self = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
    }
}
