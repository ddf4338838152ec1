import FeedConcurrency
internal import Foundation

/// Pictures by their addresses: the ones used last, up to a number of bytes, in memory and on the disk.
///
/// A closure of the program's loads what is in neither, as the service stores addresses only. One load of an
/// address runs at a time, and all that wait for it share it. Failures are not kept.
///
/// ```swift
/// let images = ImageCache(byteCount: 32 << 20) { url in try await download(url) }
/// let bytes = try await images.image(post.thumbnailURL)
/// ```
public actor ImageCache {
    /// Loads a picture by its address.
    public typealias Loader = @Sendable (String) async throws -> [UInt8]

    private let load: Loader
    private var memory: LeastRecentlyUsed<[UInt8]>
    private let disk: ImageFolder?
    private var loads: [[UInt8]: Task<[UInt8], any Error>] = [:]

    /// An empty cache, or one that begins with what its folder has.
    ///
    /// - Parameters:
    ///   - byteCount: The most bytes of pictures in memory. A larger picture is not kept there.
    ///   - folder: Where pictures are kept between launches; nil is nowhere. It is made where it is missing.
    ///   - folderByteCount: The most bytes of pictures in the folder.
    ///   - load: Loads a picture.
    public init(
        byteCount: Int,
        folder: String? = nil,
        folderByteCount: Int = 256 << 20,
        load: @escaping Loader
    ) {
        self.load = load
        memory = LeastRecentlyUsed(byteCount: byteCount)
        disk = folder.map { ImageFolder(path: $0, byteCount: folderByteCount) }
    }

    /// How many bytes of pictures are in memory.
    public var byteCount: Int { memory.usedByteCount }

    /// The picture of an address; nil for the empty address, which is no picture.
    ///
    /// A caller that is cancelled waits on; the others that share the load get it.
    ///
    /// - Throws: What the loader throws, to all that wait for that load.
    public func image(_ url: String) async throws -> [UInt8]? {
        guard !url.isEmpty else { return nil }
        if let bytes = memory.value(url) { return bytes }
        let name = Array(url.utf8)
        if let running = loads[name] { return try await running.value }
        // Reading a file takes no turn of this actor.
        let task = Task { [load, disk] in
            if let bytes = await disk?.read(url) { return bytes }
            let bytes = try await load(url)
            await disk?.write(bytes, url)
            return bytes
        }
        loads[name] = task
        defer { loads[name] = nil }
        let bytes = try await task.value
        memory.insert(bytes, url, byteCount: bytes.count)
        return bytes
    }

    /// Forgets the pictures in memory, as when the system is short of it; those on the disk stay.
    public func removeAll() { memory.removeAll() }
}

/// Pictures in files, which are lost one by one where a disk or a person damages them.
///
/// A file is named by a hash of its address and begins with the address, so that two addresses of one hash
/// are two pictures, of which the newer one stays. The times of files keep the order of use.
private actor ImageFolder {
    private let path: String
    private var sizes: LeastRecentlyUsed<Void>
    private var isRead = false

    init(path: String, byteCount: Int) {
        self.path = path
        sizes = LeastRecentlyUsed(byteCount: byteCount)
    }

    /// The picture of an address; nil where there is no file, or one of something else.
    func read(_ url: String) -> [UInt8]? {
        readFolder()
        let file = Self.fileName(url)
        guard let data = FileManager.default.contents(atPath: path + "/" + file) else { return nil }
        let header = Self.header(url)
        guard data.starts(with: header) else { return nil }
        _ = sizes.value(file)
        try? FileManager.default.setAttributes(
            [.modificationDate: Self.now],
            ofItemAtPath: path + "/" + file
        )
        return Array(data.dropFirst(header.count))
    }

    /// Keeps a picture.
    ///
    /// A disk that is full or cannot be written keeps none, which is no error of a cache.
    func write(_ bytes: [UInt8], _ url: String) {
        readFolder()
        let file = Self.fileName(url)
        let data = Data(Self.header(url) + bytes)
        let removed = sizes.insert((), file, byteCount: data.count)
        for name in removed { try? FileManager.default.removeItem(atPath: path + "/" + name) }
        guard !removed.contains(file) else { return }
        do {
            // Under another name first, so that a file is whole or not there.
            try data.write(to: URL(filePath: path + "/" + file), options: .atomic)
        } catch {
            sizes.remove(file)
        }
    }

    /// Reads which files there are, the one that was used longest ago first; once.
    private func readFolder() {
        guard !isRead else { return }
        isRead = true
        let files = FileManager.default
        try? files.createDirectory(atPath: path, withIntermediateDirectories: true)
        let found = (try? files.contentsOfDirectory(atPath: path)) ?? []
        let images = found.filter { $0.hasSuffix(".image") }
        let dated = images.compactMap { name -> (name: String, date: Date, size: Int)? in
            guard let attributes = try? files.attributesOfItem(atPath: path + "/" + name),
                let date = attributes[.modificationDate] as? Date,
                let size = attributes[.size] as? Int
            else { return nil }
            return (name, date, size)
        }
        for file in dated.sorted(by: { $0.date < $1.date }) {
            for name in sizes.insert((), file.name, byteCount: file.size) {
                try? files.removeItem(atPath: path + "/" + name)
            }
        }
    }

    private static var now: Date {
        Date(timeIntervalSince1970: Double(SystemClock.unixMilliseconds()) / 1_000)
    }

    private static func header(_ url: String) -> [UInt8] { Array("\(url)\n".utf8) }

    /// FNV-1a in 64 bits, as 16 digits.
    private static func fileName(_ url: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in url.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits + ".image"
    }
}

/// Values by names, up to a number of bytes: the one that was used longest ago goes first.
///
/// Each use gets a number that counts up, and the order of use is a queue of them in which old uses of a
/// name are skipped; O(1), amortised.
package struct LeastRecentlyUsed<Value> {
    private struct Entry {
        var value: Value
        var byteCount: Int
        var use: UInt64
    }

    private let limit: Int
    /// By the bytes of the names: two addresses with equal characters are two.
    private var entries: [[UInt8]: Entry] = [:]
    private var uses: [(use: UInt64, name: String)] = []
    private var firstUse = 0
    private var lastUse: UInt64 = 0
    /// The uses that are kept, among them those that no longer count.
    package var keptUseCount: Int { uses.count }
    /// The bytes of all values.
    package private(set) var usedByteCount = 0

    /// An empty table of values that have so many bytes together at most.
    package init(byteCount: Int) { limit = max(0, byteCount) }

    /// A value, which is used by that; nil where there is none.
    package mutating func value(_ name: String) -> Value? {
        guard let value = entries[Array(name.utf8)]?.value else { return nil }
        use(name)
        return value
    }

    /// Adds or replaces a value and returns the names of those that went for it.
    ///
    /// The value itself goes where it is larger than the limit.
    @discardableResult
    package mutating func insert(_ value: Value, _ name: String, byteCount: Int) -> [String] {
        remove(name)
        guard byteCount <= limit else { return [name] }
        entries[Array(name.utf8)] = Entry(value: value, byteCount: byteCount, use: 0)
        usedByteCount += byteCount
        use(name)
        var removed: [String] = []
        while usedByteCount > limit, let oldest = takeOldest() {
            removed.append(oldest)
            remove(oldest)
        }
        return removed
    }

    /// Removes a value; nothing where there is none.
    package mutating func remove(_ name: String) {
        guard let entry = entries.removeValue(forKey: Array(name.utf8)) else { return }
        usedByteCount -= entry.byteCount
    }

    package mutating func removeAll() { self = LeastRecentlyUsed(byteCount: limit) }

    private mutating func use(_ name: String) {
        lastUse += 1
        entries[Array(name.utf8)]?.use = lastUse
        uses.append((lastUse, name))
        let left = uses.count - firstUse
        guard left > 2 * entries.count + 64 || firstUse > left + 64 else { return }
        uses = uses[firstUse...].filter { entries[Array($0.name.utf8)]?.use == $0.use }
        firstUse = 0
    }

    private mutating func takeOldest() -> String? {
        while firstUse < uses.count {
            let (use, name) = uses[firstUse]
            firstUse += 1
            if entries[Array(name.utf8)]?.use == use { return name }
        }
        return nil
    }
}
