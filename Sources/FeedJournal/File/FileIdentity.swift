/// What tells a file from a copy of it: a copy's inode was made at another time.
package struct FileIdentity: Equatable, Sendable {
    /// The number of the inode in its file system.
    package var inode: UInt64

    /// When the inode was made, in nanoseconds since 1970; 0 where the file system keeps no time.
    package var birthNanoseconds: UInt64

    /// An identity of these values.
    package init(inode: UInt64, birthNanoseconds: UInt64) {
        self.inode = inode
        self.birthNanoseconds = birthNanoseconds
    }

    /// Whether two identities may be of one file.
    ///
    /// The birth alone decides, where both are known: inode numbers are given again, and some file
    /// systems number anew at each mount. A file system that keeps no birth cannot tell.
    package func isSameFile(as other: FileIdentity) -> Bool {
        guard birthNanoseconds != 0, other.birthNanoseconds != 0 else { return true }
        return birthNanoseconds == other.birthNanoseconds
    }
}
