import FeedOffline
import FeedTestSupport
import Testing

/// Which pictures are kept, and who waits for a load.
@Suite(.timeLimit(.minutes(2)))
struct ImageCacheTests {
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
            return [UInt8](repeating: UInt8(url.utf8.count), count: 100)
        }
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
            while await loader.urls.isEmpty { await Task.yield() }
            await loader.release()
            for try await bytes in group { #expect(bytes?.count == 100) }
        }
        #expect(await loader.urls == ["a"])
    }

    @Test func aFolderKeepsPicturesUpToItsBytes() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/images"
        let first = cache(300, folder: path, folderByteCount: 310)
        for url in ["a", "b", "c"] { _ = try await first.image(url) }
        // After a new launch all three are on the disk, and a fourth removes one.
        let second = cache(300, folder: path, folderByteCount: 310)
        for url in ["a", "b", "c"] { #expect(try await second.image(url)?.count == 100) }
        #expect(await loader.urls == ["a", "b", "c"])
        _ = try await second.image("d")
        let third = cache(300, folder: path, folderByteCount: 310)
        for url in ["a", "b", "c", "d"] { _ = try await third.image(url) }
        #expect(await loader.urls.count > 4)
    }
}
