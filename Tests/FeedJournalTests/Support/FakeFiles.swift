import FeedJournal
import FeedTestSupport
import Glibc

/// A data directory in memory that remembers what a power cut may take back.
final class FakeFiles: JournalFiles {
    /// A call that may be made to fail.
    enum Call {
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
        case sync
    }

    /// A change of the directory that was not synced yet.
    private enum Change {
        case create(String, FakeContent)
        case rename(String, String, FakeContent)
        case remove(String)

        var name: String {
            switch self {
            case .create(let name, _), .rename(let name, _, _), .remove(let name): name
            }
        }
    }

    private var entries: [String: FakeContent] = [:]
    private var durableEntries: [String: FakeContent] = [:]
    private var changes: [Change] = []

    /// After how many changing calls the power goes.
    var callsUntilPowerCut = Int.max

    /// Whether the power has gone; every call fails then.
    private(set) var isDead = false

    /// The error number that a call on a file is to fail with, if any; asked before each.
    var failure: (Call, String) -> Int32? = { _, _ in nil }

    /// How much of a write or read the system takes at a time.
    var transferLimit = { Int.max }

    /// What there is room for.
    var capacity = Int.max

    /// The files' names, in order.
    var names: [String] { entries.keys.sorted() }

    /// The bytes of a file, to look at and to spoil; nil for one that is not there.
    subscript(_ name: String) -> [UInt8]? {
        get { entries[name]?.bytes }
        set {
            entries[name] = newValue.map(FakeContent.init)
            durableEntries[name] = entries[name]
        }
    }

    func names(in directory: String) throws(FileError) -> [String] {
        try call(.list, directory)
        let prefix = directory + "/"
        return entries.keys.filter { $0.hasPrefix(prefix) }.map {
            String($0.dropFirst(prefix.count))
        }
    }

    func createDirectory(_ name: String) throws(FileError) { try call(.createDirectory, name) }

    func open(_ name: String) throws(FileError) -> (any JournalFile)? {
        try call(.open, name)
        return entries[name].map { FakeFile(name, $0, self) }
    }

    func create(_ name: String) throws(FileError) -> any JournalFile {
        try change(.create, name)
        let content = FakeContent([])
        entries[name] = content
        changes.append(.create(name, content))
        return FakeFile(name, content, self)
    }

    func rename(_ name: String, to newName: String) throws(FileError) {
        try change(.rename, name)
        guard let content = entries.removeValue(forKey: name) else {
            throw FileError("rename", name, code: ENOENT)
        }
        entries[newName] = content
        changes.append(.rename(name, newName, content))
    }

    func remove(_ name: String) throws(FileError) {
        try change(.remove, name)
        guard entries.removeValue(forKey: name) != nil else { return }
        changes.append(.remove(name))
    }

    func syncDirectory(_ name: String) throws(FileError) {
        try change(.syncDirectory, name)
        let isInside = { (path: String) in
            name == "." ? !path.contains("/") : path.hasPrefix(name + "/")
        }
        let synced = changes.filter { isInside($0.name) }
        changes.removeAll { isInside($0.name) }
        for change in synced { Self.apply(change, to: &durableEntries) }
    }

    func freeByteCount() -> Int { capacity == .max ? .max : max(0, capacity - usedByteCount) }

    private var usedByteCount: Int { entries.values.reduce(0) { $0 + $1.bytes.count } }

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

    private static func apply(_ change: Change, to entries: inout [String: FakeContent]) {
        switch change {
        case .create(let name, let content): entries[name] = content
        case .rename(let name, let newName, let content):
            entries[name] = nil
            entries[newName] = content
        case .remove(let name): entries[name] = nil
        }
    }
}

extension FakeFiles {
    /// What is found when the power is back: of all that was not synced, any part.
    func afterPowerCut(_ generator: inout SeededGenerator) -> FakeFiles {
        let fate = PowerCutFate(&generator)
        for change in changes where fate.keepsChange(&generator) {
            Self.apply(change, to: &durableEntries)
        }
        let files = FakeFiles()
        for name in durableEntries.keys.sorted() {
            files[name] = durableEntries[name]?.surviving(fate, &generator)
        }
        return files
    }

    /// Lets calls through again, as after a death of the process alone: nothing is lost, and what
    /// was not synced still is not.
    func revive() {
        isDead = false
        callsUntilPowerCut = .max
    }

    /// The same files, all durable, for another test to spoil.
    func copy() -> FakeFiles {
        let files = FakeFiles()
        for (name, content) in entries { files[name] = content.bytes }
        return files
    }
}
