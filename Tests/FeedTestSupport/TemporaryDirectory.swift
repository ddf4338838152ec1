internal import Glibc

/// A directory of its own for a test, removed with it.
package final class TemporaryDirectory {
    package let path: String
    private let isMounted: Bool

    /// Whether this user may mount file systems.
    package static var canMount: Bool {
        guard geteuid() == 0, let directory = try? TemporaryDirectory() else { return false }
        return unsafe mount("none", directory.path, "tmpfs", 0, nil) == 0
            && umount2(directory.path, 0) == 0
    }

    /// A directory, perhaps a file system of its own and of that size.
    package init(mounting byteCount: Int? = nil, isReadOnly: Bool = false) throws {
        var template = Array("/tmp/feed-test-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw DirectoryError(code: errno) }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        isMounted = byteCount != nil
        guard let byteCount else { return }
        let flags: UInt = isReadOnly ? 1 : 0
        let size = "size=\(byteCount)"
        guard unsafe size.withCString({ unsafe mount("none", path, "tmpfs", flags, $0) }) == 0
        else { throw DirectoryError(code: errno) }
    }

    deinit {
        if isMounted {
            // Open files go with their holders; the mount's end is not held up by them.
            _ = unsafe umount2(path, Int32(MNT_DETACH))
        } else {
            Self.remove(path)
        }
        _ = unsafe rmdir(path)
    }

    /// Makes another user its owner; whether that went well.
    package func give(to user: UInt32) -> Bool { unsafe chown(path, user, user) == 0 }

    private static func remove(_ path: String) {
        guard let stream = unsafe opendir(path) else { return }
        defer { unsafe closedir(stream) }
        while let entry = unsafe readdir(stream) {
            // In place: an entry is as long as its name, and the type as the longest name.
            let start = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            let name = unsafe String(
                cString: UnsafeRawPointer(entry).advanced(by: start)
                    .assumingMemoryBound(to: CChar.self)
            )
            guard name != ".", name != ".." else { continue }
            remove(path + "/" + name)
            _ = unsafe Glibc.remove(path + "/" + name)
        }
    }
}

struct DirectoryError: Error {
    /// The system's error number.
    let code: Int32
}
