package import FeedJournal
package import FeedTestSupport
import Glibc

/// A data directory in memory that remembers what a power cut may take back.
///
/// The journal reaches it as ``JournalFiles``, SQLite by ``databaseDiskName``: for both there is
/// one power that fails. It is used by one thread at a time.
package final class FakeDisk: JournalFiles {
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

    package init() {}

    package var names: [String] { entries.keys.sorted() }

    /// The bytes of a file, to look at and to spoil; nil for one that is not there.
    package subscript(_ name: String) -> [UInt8]? {
        get { entries[name]?.bytes }
        set {
            entries[name] = newValue.map(FakeContent.init)
            durableEntries[name] = entries[name]
        }
    }

    package func names(in directory: String) throws(StorageError) -> [String] {
        try call(.list, directory)
        guard directory != "." else {
            return Set(entries.keys.map { String($0.prefix { $0 != "/" }) }).sorted()
        }
        let prefix = directory + "/"
        let below = entries.keys.filter { $0.hasPrefix(prefix) }
        return Set(below.map { String($0.dropFirst(prefix.count).prefix { $0 != "/" }) }).sorted()
    }

    package func createDirectory(_ name: String) throws(StorageError) {
        try call(.createDirectory, name)
    }

    package func open(_ name: String) throws(StorageError) -> (any JournalFile)? {
        try call(.open, name)
        return entries[name].map { FakeFile(name, $0, self) }
    }

    package func create(_ name: String) throws(StorageError) -> any JournalFile {
        FakeFile(name, try createContent(name), self)
    }

    package func rename(_ name: String, to newName: String) throws(StorageError) {
        try change(.rename, name)
        guard let content = entries.removeValue(forKey: name) else {
            throw .system("rename", name, code: ENOENT)
        }
        entries[newName] = content
        changes.append(.rename(name, newName, content))
    }

    package func remove(_ name: String) throws(StorageError) {
        try change(.remove, name)
        guard entries.removeValue(forKey: name) != nil else { return }
        changes.append(.remove(name))
    }

    /// Directories are no more than the names of the files in them.
    package func removeDirectory(_ name: String) throws(StorageError) {
        try change(.remove, name)
        guard !entries.keys.contains(where: { $0.hasPrefix(name + "/") }) else {
            throw .system("remove", name, code: ENOTEMPTY)
        }
    }

    package func syncDirectory(_ name: String) throws(StorageError) {
        try change(.syncDirectory, name)
        guard !ignoresSyncs else { return }
        let isInside = { (path: String) in
            name == "." ? !path.contains("/") : path.hasPrefix(name + "/")
        }
        let synced = changes.filter { isInside($0.name) }
        changes.removeAll { isInside($0.name) }
        for change in synced { Self.apply(change, to: &durableEntries) }
    }

    package func directorySync(_ name: String) throws(StorageError) -> any FileSync {
        try call(.open, name)
        return FakeSync(disk: self, name: name)
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
    func createContent(_ name: String) throws(StorageError) -> FakeContent {
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
    ) throws(StorageError) {
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

    func sync(_ content: FakeContent, _ name: String) throws(StorageError) {
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
    func call(_ call: Call, _ name: String) throws(StorageError) {
        guard !isDead else { throw .system("reach", name, code: EIO) }
        if let code = failure(call, name) { throw .system("\(call)", name, code: code) }
    }

    /// A call that changes something, the last one perhaps.
    func change(_ call: Call, _ name: String) throws(StorageError) {
        try self.call(call, name)
        callsUntilPowerCut -= 1
        guard callsUntilPowerCut < 0 else { return }
        isDead = true
        throw .system("reach", name, code: EIO)
    }

    /// Whether that much more fits.
    func reserve(_ byteCount: Int, _ name: String) throws(StorageError) {
        guard byteCount <= freeByteCount() else { throw .system("write", name, code: ENOSPC) }
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

extension FakeDisk {
    /// Lets the power go after some calls in nine lives of ten; if there are two bounds, in half of these
    /// after few.
    package func drawPowerCut(
        after calls: Int,
        or most: Int? = nil,
        _ generator: inout SeededGenerator
    ) {
        guard !generator.oneIn(10) else { return }
        var longest = calls
        if let most, !generator.oneIn(2) { longest = most }
        callsUntilPowerCut = Int.random(in: 0...longest, using: &generator)
    }

    /// Ends a life, in two of three by a power cut: then the next one is on the disk that is returned.
    ///
    /// In the others the process alone dies: what it wrote is in the system's memory still.
    package func endLife(_ generator: inout SeededGenerator) -> FakeDisk? {
        guard generator.oneIn(3) else { return afterPowerCut(&generator) }
        revive()
        return nil
    }

    /// What is found when the power is back: of all that was not synced, any part.
    ///
    /// All that follows is drawn from the generator, so that a seed replays it.
    package func afterPowerCut(_ generator: inout SeededGenerator) -> FakeDisk {
        let fate = PowerCutFate(&generator)
        var found = durableEntries
        for change in changes where fate.keepsChange(&generator) { Self.apply(change, to: &found) }
        let disk = FakeDisk()
        disk.ignoresSyncs = ignoresSyncs
        for name in found.keys.sorted() { disk[name] = found[name]?.surviving(fate, &generator) }
        return disk
    }

    /// The same files, all durable, for another test to spoil.
    package func copy() -> FakeDisk {
        let disk = FakeDisk()
        for (name, content) in entries { disk[name] = content.bytes }
        return disk
    }
}

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
        errorNumber { () throws(StorageError) in
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
            guard creates else { throw .system("open", name, code: ENOENT) }
            let content = try createContent(name)
            opened(DatabaseDiskFile(name, content, self, syncsDirectory: isLog))
        }
    }

    func remove(_ name: String, syncsDirectory: Bool) -> Int32 {
        errorNumber { () throws(StorageError) in
            guard entries[name] != nil else { throw .system("remove", name, code: ENOENT) }
            try remove(name)
            if syncsDirectory { try syncDirectory(Self.directory(of: name)) }
        }
    }

    func exists(_ name: String, _ exists: inout Bool) -> Int32 {
        errorNumber { () throws(StorageError) in
            try call(.list, name)
            exists = entries[name] != nil
        }
    }

    static func directory(of name: String) -> String {
        name.lastIndex(of: "/").map { String(name[..<$0]) } ?? "."
    }
}

/// The error number of a call that fails, 0 of one that does not.
func errorNumber(_ call: () throws(StorageError) -> Void) -> Int32 {
    do throws(StorageError) {
        try call()
        return 0
    } catch {
        guard case .system(_, _, let code) = error else { return EIO }
        return code
    }
}

final class FakeFile: JournalFile {
    var name: String
    private let content: FakeContent
    private let disk: FakeDisk

    init(_ name: String, _ content: FakeContent, _ disk: FakeDisk) {
        self.name = name
        self.content = content
        self.disk = disk
    }

    func byteCount() throws(StorageError) -> Int {
        try disk.call(.measure, name)
        return content.bytes.count
    }

    func readOnce(
        into bytes: inout [UInt8],
        from index: Int,
        at offset: Int
    ) throws(StorageError) -> Int {
        try disk.call(.read, name)
        let available = content.bytes.count - offset
        let count = min(bytes.count - index, available, disk.transferLimit())
        guard count > 0 else { return 0 }
        let data = content.bytes[offset..<offset + count]
        bytes.replaceSubrange(index..<index + count, with: data)
        return count
    }

    func writeOnce(
        _ first: Span<UInt8>,
        _ second: Span<UInt8>,
        at offset: Int
    ) throws(StorageError) -> Int {
        var data: [UInt8] = []
        for index in first.indices { data.append(first[index]) }
        for index in second.indices { data.append(second[index]) }
        let count = min(data.count, disk.transferLimit())
        try disk.write(data, count: count, to: content, at: offset, name)
        return count
    }

    func allocate(byteCount: Int) throws(StorageError) {
        do {
            try disk.reserve(max(0, byteCount - content.bytes.count), name)
        } catch {
            // A file system without room for all of it keeps what it has allocated.
            content.grow(to: content.bytes.count + disk.freeByteCount())
            throw error
        }
        try disk.change(.allocate, name)
        content.grow(to: byteCount)
    }

    func sync() throws(StorageError) { try disk.sync(content, name) }

    var fileSync: any FileSync { FakeSync(file: self, name: name) }
}

/// A sync of a file, or of a directory of the disk, on the one thread that uses the disk at the time.
private struct FakeSync: FileSync, @unchecked Sendable {
    var file: FakeFile?
    var disk: FakeDisk?
    var name: String

    func sync() throws(StorageError) {
        try file?.sync()
        try disk?.syncDirectory(name)
    }
}

/// A file's bytes, and what each block of them has been since the last sync.
final class FakeContent {
    private static let blockByteCount = 4096
    private static let sectorByteCount = 512

    private(set) var bytes: [UInt8]

    /// The lengths since the last sync, the durable one first.
    private var byteCounts: [Int]

    /// The contents of a block since the last sync, the durable one first.
    private var versions: [Int: [[UInt8]]] = [:]

    /// Blocks that a failed sync has left in memory, where later syncs do not look for them.
    private var abandoned: Set<Int> = []

    /// What there was before it was last cut off, if no sync came since.
    private var untruncated: FakeContent?

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        byteCounts = [bytes.count]
    }

    private init(copying content: FakeContent) {
        bytes = content.bytes
        byteCounts = content.byteCounts
        versions = content.versions
        abandoned = content.abandoned
        untruncated = content.untruncated
    }

    func grow(to byteCount: Int) {
        guard byteCount > bytes.count else { return }
        bytes.append(contentsOf: repeatElement(0, count: byteCount - bytes.count))
        byteCounts.append(byteCount)
    }

    /// Cuts the file off, at once and wholly: a file system journals what it does to a file's size.
    ///
    /// So after a power cut either all is there that was there before, or nothing of what was cut.
    func truncate(to byteCount: Int) {
        guard byteCount < bytes.count else { return }
        untruncated = FakeContent(copying: self)
        bytes.removeLast(bytes.count - byteCount)
        byteCounts = [byteCount]
        for (block, states) in versions {
            let rest = byteCount - block * Self.blockByteCount
            versions[block] = rest > 0 ? states.map { Array($0.prefix(rest)) } : nil
        }
        abandoned = abandoned.filter { versions[$0] != nil }
    }

    func write(_ data: some RandomAccessCollection<UInt8>, at offset: Int) {
        guard !data.isEmpty else { return }
        grow(to: offset + data.count)
        let range = offset..<offset + data.count
        changing(range) { bytes.replaceSubrange(range, with: data) }
    }

    func sync() {
        // What one failed sync gave up is written by none, until it is written to again.
        versions = versions.filter { abandoned.contains($0.key) }
        byteCounts = [bytes.count]
        untruncated = nil
    }

    /// A sync that failed: the system may forget that these blocks are not on the disk.
    func abandonUnsynced() { abandoned.formUnion(versions.keys) }

    /// Each block as it was at one of its times, or sectors of it at different ones.
    func surviving(_ fate: PowerCutFate, _ generator: inout SeededGenerator) -> [UInt8] {
        if let untruncated, !fate.keepsChange(&generator) {
            return untruncated.surviving(fate, &generator)
        }
        let byteCount = fate.pick(byteCounts, &generator)
        var result = Array(bytes.prefix(byteCount))
        result.append(contentsOf: repeatElement(0, count: byteCount - result.count))
        for (block, versions) in versions.sorted(by: { $0.key < $1.key }) {
            let isTorn = generator.oneIn(3)
            var version = fate.pick(versions, &generator)
            let start = block * Self.blockByteCount
            for offset in stride(from: 0, to: Self.blockByteCount, by: Self.sectorByteCount) {
                if isTorn { version = fate.pick(versions, &generator) }
                let end = min(offset + Self.sectorByteCount, byteCount - start)
                guard offset < end else { break }
                let sector = version.dropFirst(offset).prefix(end - offset)
                let zeros = repeatElement(UInt8(0), count: end - offset - sector.count)
                result.replaceSubrange(start + offset..<start + end, with: sector + zeros)
            }
        }
        return result
    }

    private func changing(_ range: Range<Int>, _ change: () -> Void) {
        let first = range.lowerBound / Self.blockByteCount
        let blocks = first...(range.upperBound - 1) / Self.blockByteCount
        for block in blocks where versions[block] == nil { versions[block] = [content(block)] }
        change()
        for block in blocks {
            versions[block]?.append(content(block))
            // Of more than that, none is picked.
            if versions[block]?.count == 5 { versions[block]?.remove(at: 1) }
            abandoned.remove(block)
        }
    }

    private func content(_ block: Int) -> [UInt8] {
        let start = min(block * Self.blockByteCount, bytes.count)
        return Array(bytes[start..<min(start + Self.blockByteCount, bytes.count)])
    }
}

package struct PowerCutFate {
    private let keptPercent: Int

    /// Draws whether all is lost, all kept, or some of each.
    package init(_ generator: inout SeededGenerator) {
        keptPercent = [0, 20, 50, 80, 100].randomElement(using: &generator) ?? 50
    }

    /// Draws whether one change outlives the cut.
    func keepsChange(_ generator: inout SeededGenerator) -> Bool {
        Int.random(in: 0..<100, using: &generator) < keptPercent
    }

    /// One of the states that something had since it was synced, the durable one coming first.
    func pick<State>(_ states: [State], _ generator: inout SeededGenerator) -> State {
        guard keepsChange(&generator) else { return states[0] }
        let recent = max(0, states.count - 3)
        return states[Int.random(in: recent..<states.count, using: &generator)]
    }
}
