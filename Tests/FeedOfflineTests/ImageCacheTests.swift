import FeedOffline
import FeedTestSupport
import Foundation
import Testing

/// Which pictures are kept, and who waits for a load.
@Suite(.timeLimit(.minutes(10))) struct ImageCacheTests {
    /// A loader that counts, and answers once it is let.
    private actor Loader {
        struct Failure: Error {}

        private(set) var urls: [String] = []
        private var waiting: [CheckedContinuation<Void, Never>] = []
        private var isHeld = false
        private var failures = 0

        func hold() { isHeld = true }
        func failOnce() { failures += 1 }
        func release() {
            isHeld = false
            for task in waiting { task.resume() }
            waiting = []
        }

        func load(_ url: String) async throws -> [UInt8] {
            urls.append(url)
            if isHeld { await withCheckedContinuation { waiting.append($0) } }
            if failures > 0 {
                failures -= 1
                throw Failure()
            }
            return ImageCacheTests.picture(url)
        }
    }

    /// The picture of an address, which is no other's.
    private static func picture(_ url: String) -> [UInt8] {
        Array(repeating: url.utf8.first ?? 0, count: 100)
    }

    private let loader = Loader()

    private func cache(
        _ byteCount: Int,
        folder: String? = nil,
        folderByteCount: Int = 1_000
    )
        -> ImageCache
    {
        ImageCache(byteCount: byteCount, folder: folder, folderByteCount: folderByteCount) {
            [loader] in try await loader.load($0)
        }
    }

    @Test func theOneUsedLongestAgoGoes() async throws {
        let cache = cache(300)
        for url in ["a", "b", "c", "a", "d"] { _ = try await cache.image(url) }
        #expect(await cache.byteCount == 300)
        _ = try await cache.image("a")
        _ = try await cache.image("b")
        #expect(await loader.urls == ["a", "b", "c", "d", "b"])
    }

    @Test func anEmptyAddressIsNoPictureAndALargeOneIsNotKept() async throws {
        let cache = cache(99)
        #expect(try await cache.image("") == nil)
        #expect(try await cache.image("a")?.count == 100)
        #expect(await cache.byteCount == 0)
        #expect(await loader.urls == ["a"])
    }

    @Test func aFailureIsNotKept() async throws {
        let cache = cache(300)
        await loader.failOnce()
        await #expect(throws: Loader.Failure.self) { _ = try await cache.image("a") }
        #expect(try await cache.image("a")?.count == 100)
        #expect(await loader.urls == ["a", "a"])
    }

    @Test func allWhoWaitShareALoad() async throws {
        let cache = cache(300)
        await loader.hold()
        try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            for _ in 0..<20 { group.addImmediateTask { try await cache.image("a") } }
            while await loader.urls.isEmpty { try await yieldUnlessCancelled() }
            await loader.release()
            for try await bytes in group { #expect(bytes?.count == 100) }
        }
        #expect(await loader.urls == ["a"])
    }

    @Test("addresses with equal characters and other bytes are two")
    func addressesAreComparedByteByByte() async throws {
        let cache = cache(300)
        let names = ["\u{E9}", "e\u{301}"]
        await loader.hold()
        try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            for name in names { group.addImmediateTask { try await cache.image(name) } }
            while await loader.urls.isEmpty { try await yieldUnlessCancelled() }
            await loader.release()
            for try await _ in group {}
        }
        #expect(Set(await loader.urls.map { Array($0.utf8) }) == Set(names.map { Array($0.utf8) }))
    }

    @Test func aFolderKeepsPicturesUpToItsBytes() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/images"
        let first = cache(300, folder: path, folderByteCount: 310)
        for url in ["a", "b", "c"] { _ = try await first.image(url) }
        // After a new launch all three are on the disk, and a fourth removes one.
        let second = cache(300, folder: path, folderByteCount: 310)
        for url in ["b", "a", "c"] { #expect(try await second.image(url) == Self.picture(url)) }
        #expect(await loader.urls == ["a", "b", "c"])
        _ = try await second.image("d")
        // It was the one used longest ago.
        let third = cache(300, folder: path, folderByteCount: 310)
        for url in ["a", "c", "d"] { #expect(try await third.image(url) == Self.picture(url)) }
        #expect(await loader.urls == ["a", "b", "c", "d"])
        _ = try await third.image("b")
        #expect(await loader.urls == ["a", "b", "c", "d", "b"])
    }

    /// Loads a picture with a cache of its own, and returns its file in the folder.
    private func load(_ url: String, into path: String) async throws -> String {
        let before = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        _ = try await cache(300, folder: path).image(url)
        let after = try FileManager.default.contentsOfDirectory(atPath: path)
        return path + "/" + (try #require(Set(after).subtracting(before).first))
    }

    @Test func theTimesOfFilesKeepTheOrderOfUse() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/images"
        for (place, url) in ["b", "c", "a"].enumerated() {
            let date = Date(timeIntervalSince1970: Double(1_000 + place))
            try FileManager.default.setAttributes(
                [.modificationDate: date],
                ofItemAtPath: try await load(url, into: path)
            )
        }
        // Each use is in a launch of its own: now "c" is the one used longest ago.
        _ = try await cache(300, folder: path, folderByteCount: 310).image("b")
        _ = try await cache(300, folder: path, folderByteCount: 310).image("d")
        let last = cache(300, folder: path, folderByteCount: 310)
        for url in ["a", "b", "d"] { #expect(try await last.image(url) == Self.picture(url)) }
        #expect(await loader.urls == ["b", "c", "a", "d"])
        _ = try await last.image("c")
        #expect(await loader.urls == ["b", "c", "a", "d", "c"])
    }

    @Test func aFileOfAnotherAddressIsNoPictureOfThisOne() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/images"
        let first = try await load("a", into: path)
        let second = try await load("b", into: path)
        // As if the hashes of the two were the same.
        try FileManager.default.removeItem(atPath: second)
        try FileManager.default.moveItem(atPath: first, toPath: second)
        #expect(try await cache(300, folder: path).image("b") == Self.picture("b"))
        #expect(await loader.urls == ["a", "b", "b"])
    }

    @Test func picturesOutliveTheShortageOfMemoryInTheirFolder() async throws {
        let folder = try TemporaryDirectory()
        let cache = cache(300, folder: folder.path + "/images")
        _ = try await cache.image("a")
        await cache.removeAll()
        #expect(await cache.byteCount == 0)
        #expect(try await cache.image("a") == Self.picture("a"))
        #expect(await loader.urls == ["a"])
    }
}

/// What stays in a table with a limit, beside a list that is searched.
@Suite struct LeastRecentlyUsedTests {
    @Test func theOneUsedLongestAgoGoes() {
        var generator = SeededGenerator(seed: 11)
        var table = LeastRecentlyUsed<Int>(byteCount: 1_000)
        /// Names, the one used longest ago first.
        var used: [(name: String, byteCount: Int)] = []
        for round in 0..<10_000 {
            let name = "name \(Int.random(in: 0..<60, using: &generator))"
            let place = used.firstIndex { $0.name == name }
            if Bool.random(using: &generator) {
                #expect((table.value(name) != nil) == (place != nil))
                if let place { used.append(used.remove(at: place)) }
                continue
            }
            let byteCount = Int.random(in: 1...100, using: &generator)
            if let place { used.remove(at: place) }
            used.append((name, byteCount))
            var removed: [String] = []
            while used.reduce(0, { $0 + $1.byteCount }) > 1_000 {
                removed.append(used.removeFirst().name)
            }
            #expect(table.insert(round, name, byteCount: byteCount) == removed)
            #expect(table.usedByteCount == used.reduce(0) { $0 + $1.byteCount })
        }
    }

    @Test func namesAreComparedByteByByte() {
        var table = LeastRecentlyUsed<Int>(byteCount: 1_000)
        table.insert(1, "\u{e9}", byteCount: 10)
        table.insert(2, "e\u{301}", byteCount: 10)
        #expect(table.value("\u{e9}") == 1)
        #expect(table.value("e\u{301}") == 2)
        #expect(table.usedByteCount == 20)
    }

    @Test func aRunOfNewNamesKeepsNoOldUses() {
        var table = LeastRecentlyUsed<Int>(byteCount: 1_000)
        for round in 0..<100_000 { table.insert(round, "name \(round)", byteCount: 10) }
        #expect(table.usedByteCount == 1_000)
        #expect(table.keptUseCount < 1_000)
    }
}
