/// The files of one data directory, as far as the journal needs them; names are relative to it.
///
/// Everything that the journal keeps passes through here, so that tests can put a disk behind it
/// that loses power, fills up and fails.
package protocol JournalFiles: AnyObject {
    /// The names in a directory, in any order.
    func names(in directory: String) throws(FileError) -> [String]

    /// Makes a directory; one that is there already is no error.
    func createDirectory(_ name: String) throws(FileError)

    /// Opens a file that is there, nil where none is.
    func open(_ name: String) throws(FileError) -> (any JournalFile)?

    /// Makes an empty file in place of any that was there.
    func create(_ name: String) throws(FileError) -> any JournalFile

    /// Gives a file another name, in one step; a file that had that name is gone.
    func rename(_ name: String, to newName: String) throws(FileError)

    /// Removes a file; one that is not there is no error.
    func remove(_ name: String) throws(FileError)

    /// Removes a directory; one that is not empty is an error, one that is not there is none.
    func removeDirectory(_ name: String) throws(FileError)

    /// Makes the entries of a directory durable, "." being the data directory's own.
    func syncDirectory(_ name: String) throws(FileError)

    /// The bytes that the file system of a directory still has for us, "." being the data
    /// directory: a directory below it may be a link to another file system.
    func freeByteCount(in directory: String) throws(FileError) -> Int

    /// Gives up the lock of the directory: another program may change it from now on, and nobody
    /// does through this value any more.
    func unlock()

    /// What tells a file from a copy of it; nil where the disk keeps nothing of the kind.
    func identity(of name: String) throws(FileError) -> FileIdentity?
}

extension JournalFiles {
    /// The bytes that the file system still has for us.
    package func freeByteCount() throws(FileError) -> Int { try freeByteCount(in: ".") }

    package func identity(of name: String) throws(FileError) -> FileIdentity? { nil }

    /// The first bytes of a file, fewer where it has fewer; nil where there is none.
    package func begin(of name: String, byteCount: Int) throws(FileError) -> [UInt8]? {
        try open(name)?.read(0..<byteCount)
    }
}

/// One open file, read and written at offsets; closed when the last reference goes.
package protocol JournalFile: AnyObject {
    /// Its name below the data directory, for messages; the code that renames the file sets it.
    var name: String { get set }

    /// How long it is now.
    func byteCount() throws(FileError) -> Int

    /// Fills the array from an index on with what one call of the system gives; 0 at the end.
    func readOnce(
        into bytes: inout [UInt8],
        from index: Int,
        at offset: Int
    ) throws(FileError) -> Int

    /// Writes two pieces, one after the other, as far as one call of the system takes them.
    func writeOnce(
        _ first: Span<UInt8>,
        _ second: Span<UInt8>,
        at offset: Int
    ) throws(FileError) -> Int

    /// Grows the file to that size, with its blocks taken from the file system; it reads as zeros.
    func allocate(byteCount: Int) throws(FileError)

    /// Returns when what was written is on the disk, with the metadata that reading it needs.
    func sync() throws(FileError)
}
