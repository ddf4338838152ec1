import Glibc

/// A file of the system's.
final class POSIXFile: JournalFile {
    var name: String
    private let descriptor: Int32

    /// Takes over the descriptor and closes it in the end.
    init(name: String, descriptor: Int32) {
        self.name = name
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    func byteCount() throws(FileError) -> Int {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failure("measure") }
        return Int(status.st_size)
    }

    func readOnce(
        into bytes: inout [UInt8],
        from index: Int,
        at offset: Int
    ) throws(FileError) -> Int {
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[index...])
            return unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(offset))
        }
        guard count >= 0 else { throw failure("read") }
        return count
    }

    func writeOnce(
        _ first: Span<UInt8>,
        _ second: Span<UInt8>,
        at offset: Int
    ) throws(FileError) -> Int {
        let count = unsafe first.withUnsafeBytes { first in
            unsafe second.withUnsafeBytes { second in
                // The system only reads; its type for both ways has no const.
                let pieces: [2 of iovec] = unsafe [
                    iovec(
                        iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress),
                        iov_len: first.count
                    ),
                    iovec(
                        iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress),
                        iov_len: second.count
                    ),
                ]
                return unsafe pieces.span.withUnsafeBufferPointer {
                    unsafe pwritev(descriptor, $0.baseAddress, 2, off_t(offset))
                }
            }
        }
        guard count >= 0 else { throw failure("write") }
        return count
    }

    func allocate(byteCount: Int) throws(FileError) {
        while true {
            // Where the file system knows no allocation, the C library writes to each block.
            let code = posix_fallocate(descriptor, 0, off_t(byteCount))
            if code == 0 { return }
            guard code == EINTR else { throw FileError("allocate", name, code: code) }
        }
    }

    func sync() throws(FileError) {
        // Not made again after EINTR or any other error: what failed may be forgotten by then.
        guard fdatasync(descriptor) == 0 else { throw failure("sync") }
    }

    private func failure(_ operation: String) -> FileError {
        FileError(operation, name, code: errno)
    }
}
