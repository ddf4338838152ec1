package import FeedJournal
import Glibc

/// A data directory in memory that remembers what a power cut may take back.
///
/// The journal reaches it as ``JournalFiles``, SQLite by ``databaseDiskName``: for both there is
/// one power that fails. It is used by one thread at a time.
package final class FakeDisk: JournalFiles {
    /// A call that may be made to fail.
    package enum Call {
        case list
        case createDirectory
        case create
        case rename
        case remove
        case syncDirectory
        case allocate
        case open
        case measure
        case read
        case write
        case truncate
        case sync
    }

    /// A change of the directory that was not synced yet.
    enum Change {
        case create(String, FakeContent)
        case rename(String, String, FakeContent)
        case remove(String)

        var name: String {
            switch self {
            case .create(let name, _), .rename(let name, _, _), .remove(let name): name
            }
        }
    }

    private(set) var entries: [String: FakeContent] = [:]
    private(set) var durableEntries: [String: FakeContent] = [:]
    private(set) var changes: [Change] = []

    /// After how many changing calls the power goes.
    package var callsUntilPowerCut = Int.max

    /// Whether the power has gone; every call fails then.
    package private(set) var isDead = false

    /// Whether syncs do nothing and say that all went well.
    package var ignoresSyncs = false

    /// The error number that a call on a file is to fail with, if any; asked before each.
    package var failure: (Call, String) -> Int32? = { _, _ in nil }

    /// How much of a write or read of the journal's the system takes at a time.
    package var transferLimit = { Int.max }

    /// What there is room for.
    package var capacity = Int.max

    /// What SQLite knows the disk by, once it was asked for.
    private(set) lazy var databaseDisk = DatabaseDisk(self)

    /// An empty disk.
    package init() {}

    /// The files' names, in order.
    package var names: [String] { entries.keys.sorted() }

    /// The bytes of a file, to look at and to spoil; nil for one that is not there.
    package subscript(_ name: String) -> [UInt8]? {
        get { entries[name]?.bytes }
        set {
            entries[name] = newValue.map(FakeContent.init)
            durableEntries[name] = entries[name]
        }
    }

    package func names(in directory: String) throws(FileError) -> [String] {
        try call(.list, directory)
        guard directory != "." else {
            return Set(entries.keys.map { String($0.prefix { $0 != "/" }) }).sorted()
        }
        let prefix = directory + "/"
        let below = entries.keys.filter { $0.hasPrefix(prefix) }
        return Set(below.map { String($0.dropFirst(prefix.count).prefix { $0 != "/" }) }).sorted()
    }

    package func createDirectory(_ name: String) throws(FileError) {
        try call(.createDirectory, name)
    }

    package func open(_ name: String) throws(FileError) -> (any JournalFile)? {
        try call(.open, name)
        return entries[name].map { FakeFile(name, $0, self) }
    }

    package func create(_ name: String) throws(FileError) -> any JournalFile {
        FakeFile(name, try createContent(name), self)
    }

    package func rename(_ name: String, to newName: String) throws(FileError) {
        try change(.rename, name)
        guard let content = entries.removeValue(forKey: name) else {
            throw FileError("rename", name, code: ENOENT)
        }
        entries[newName] = content
        changes.append(.rename(name, newName, content))
    }

    package func remove(_ name: String) throws(FileError) {
        try change(.remove, name)
        guard entries.removeValue(forKey: name) != nil else { return }
        changes.append(.remove(name))
    }

    /// Directories are no more than the names of the files in them.
    package func removeDirectory(_ name: String) throws(FileError) {
        try change(.remove, name)
        guard !entries.keys.contains(where: { $0.hasPrefix(name + "/") }) else {
            throw FileError("remove", name, code: ENOTEMPTY)
        }
    }

    package func syncDirectory(_ name: String) throws(FileError) {
        try change(.syncDirectory, name)
        guard !ignoresSyncs else { return }
        let isInside = { (path: String) in
            name == "." ? !path.contains("/") : path.hasPrefix(name + "/")
        }
        let synced = changes.filter { isInside($0.name) }
        changes.removeAll { isInside($0.name) }
        for change in synced { Self.apply(change, to: &durableEntries) }
    }

    /// Does nothing: it is in this process alone, and has no lock.
    package func unlock() {}

    package func freeByteCount(in directory: String) -> Int { freeByteCount() }

    package func freeByteCount() -> Int {
        capacity == .max ? .max : max(0, capacity - usedByteCount)
    }

    private var usedByteCount: Int { entries.values.reduce(0) { $0 + $1.bytes.count } }

    /// Ends all, as a death of the process between two calls does; a power cut may follow.
    package func die() { isDead = true }

    /// Lets calls through again, as after a death of the process alone.
    ///
    /// Nothing is lost, and what was not synced still is not. What was open has to be closed first.
    package func revive() {
        isDead = false
        callsUntilPowerCut = .max
    }
}

// What the calls of the journal and of SQLite come down to.
extension FakeDisk {
    func createContent(_ name: String) throws(FileError) -> FakeContent {
        try change(.create, name)
        let content = FakeContent([])
        entries[name] = content
        changes.append(.create(name, content))
        return content
    }

    /// Writes the first bytes of the data: as many as `count` says.
    func write(
        _ data: some RandomAccessCollection<UInt8>,
        count: Int,
        to content: FakeContent,
        at offset: Int,
        _ name: String
    ) throws(FileError) {
        try reserve(max(0, offset + count - content.bytes.count), name)
        let wasAlive = !isDead
        do {
            try change(.write, name)
        } catch {
            // What was under way when the power went may be on the disk in part.
            if wasAlive, isDead { content.write(data, at: offset) }
            throw error
        }
        content.write(data.prefix(count), at: offset)
    }

    func sync(_ content: FakeContent, _ name: String) throws(FileError) {
        do {
            try change(.sync, name)
        } catch {
            if !isDead { content.abandonUnsynced() }
            throw error
        }
        guard !ignoresSyncs else { return }
        content.sync()
    }

    /// Fails where a test wants it to, and when the power is gone.
    func call(_ call: Call, _ name: String) throws(FileError) {
        guard !isDead else { throw FileError("reach", name, code: EIO) }
        if let code = failure(call, name) { throw FileError("\(call)", name, code: code) }
    }

    /// A call that changes something, the last one perhaps.
    func change(_ call: Call, _ name: String) throws(FileError) {
        try self.call(call, name)
        callsUntilPowerCut -= 1
        guard callsUntilPowerCut < 0 else { return }
        isDead = true
        throw FileError("reach", name, code: EIO)
    }

    /// Whether that much more fits.
    func reserve(_ byteCount: Int, _ name: String) throws(FileError) {
        guard byteCount <= freeByteCount() else { throw FileError("write", name, code: ENOSPC) }
    }

    static func apply(_ change: Change, to entries: inout [String: FakeContent]) {
        switch change {
        case .create(let name, let content): entries[name] = content
        case .rename(let name, let newName, let content):
            entries[name] = nil
            entries[newName] = content
        case .remove(let name): entries[name] = nil
        }
    }
}
