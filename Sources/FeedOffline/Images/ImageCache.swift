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
