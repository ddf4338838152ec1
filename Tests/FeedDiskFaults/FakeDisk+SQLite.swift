import FeedJournal
import Glibc

extension FakeDisk {
    /// What a database on this disk is opened with: `Database(path: "state.db", vfs: name)`.
    ///
    /// Paths are names on the disk. The disk has to outlive its databases.
    package var databaseDiskName: String { databaseDisk.name }

    /// Opens a file, or makes it if it may, and hands it over; answers an error number, or 0.
    func open(
        _ name: String?,
        creates: Bool,
        isLog: Bool,
        _ opened: (DatabaseDiskFile) -> Void
    ) -> Int32 {
        errorNumber { () throws(FileError) in
            guard let name else {
                // Of one connection, gone with it, and nothing to a power cut.
                let content = FakeContent([])
                opened(DatabaseDiskFile("unnamed", content, self, syncsDirectory: false))
                return
            }
            try call(.open, name)
            if let content = entries[name] {
                opened(DatabaseDiskFile(name, content, self, syncsDirectory: isLog))
                return
            }
            guard creates else { throw FileError("open", name, code: ENOENT) }
            let content = try createContent(name)
            opened(DatabaseDiskFile(name, content, self, syncsDirectory: isLog))
        }
    }

    func remove(_ name: String, syncsDirectory: Bool) -> Int32 {
        errorNumber { () throws(FileError) in
            guard entries[name] != nil else { throw FileError("remove", name, code: ENOENT) }
            try remove(name)
            if syncsDirectory { try syncDirectory(Self.directory(of: name)) }
        }
    }

    func exists(_ name: String, _ exists: inout Bool) -> Int32 {
        errorNumber { () throws(FileError) in
            try call(.list, name)
            exists = entries[name] != nil
        }
    }

    static func directory(of name: String) -> String {
        name.lastIndex(of: "/").map { String(name[..<$0]) } ?? "."
    }
}

/// The error number of a call that fails, 0 of one that does not.
func errorNumber(_ call: () throws(FileError) -> Void) -> Int32 {
    do throws(FileError) {
        try call()
        return 0
    } catch {
        return error.code
    }
}
