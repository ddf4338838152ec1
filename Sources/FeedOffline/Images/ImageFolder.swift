import FeedConcurrency
internal import Foundation

/// Pictures in files, which are lost one by one where a disk or a person damages them.
///
/// A file is named by a hash of its address and begins with the address, so that two addresses of one hash
/// are two pictures, of which the newer one stays. The times of files keep the order of use.
actor ImageFolder {
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
