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

    /// Removes a file's name at once; its blocks may be free a little later, as nobody waits for
    /// them. Freeing many takes the system tens of milliseconds.
    func discard(_ name: String) throws(FileError)

    /// Makes the entries of a directory durable, "." being the data directory's own.
    func syncDirectory(_ name: String) throws(FileError)

    /// What the file system still has for us.
    func freeByteCount() throws(FileError) -> Int
}

/// One open file, read and written at offsets; closed when the last reference goes.
package protocol JournalFile: AnyObject {
    /// Its name below the data directory, for messages; whoever renames it sets it.
    var name: String { get set }

    /// How long it is now.
    func byteCount() throws(FileError) -> Int

    /// Fills the array from an index on with what one call of the system gives; 0 at the end.
    func readOnce(
        into bytes: inout [UInt8],
        from index: Int,
        at offset: Int
    ) throws(FileError) -> Int

    /// Writes two pieces, one behind the other, as far as one call of the system takes them.
    func writeOnce(
        _ first: Span<UInt8>,
        _ second: Span<UInt8>,
        at offset: Int
    ) throws(FileError) -> Int

    /// Grows the file to that size, with its blocks taken from the file system; it reads as zeros.
    func allocate(byteCount: Int) throws(FileError)

    /// Lets the system begin to write a range to the disk, without waiting and without promise.
    func startWriting(_ range: Range<Int>)

    /// Returns when what was written is on the disk, with whatever is needed to read it.
    func sync() throws(FileError)
}
