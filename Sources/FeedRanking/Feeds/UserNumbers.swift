internal import CPrefetch
import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The voters' numbers of users by id, in open addressing; a lookup takes no lock.
///
/// A user in the table keeps its number, so a reader that finds one has the right number. A table has 16
/// bytes a place. When three quarters of the places are used, a table of twice the size replaces it.
/// The replaced table gives its memory back, and a late reader finds its places free: a reader that
/// finds none looks whether the table is still in use. The addresses stay until the end.
///
/// `Sendable` because all words are atomic, and no table is freed before the value.
@safe
struct UserNumbers: ~Copyable, @unchecked Sendable {
    private typealias Words = UnsafeMutablePointer<Atomic<UInt64>>

    /// The words before the places.
    private enum Head {
        /// The number of places less one; the number of places is a power of two.
        static let mask = 0
        static let count = 1
        /// The address of the table that this one has replaced; 0 in the first.
        static let previous = 2
        static let wordCount = 4
    }

    private static let wordByteCount = MemoryLayout<UInt64>.stride
    private static let firstCapacity = 256
    private static let pageByteCount: UInt = 4_096

    /// The address of the table in use; 0 before the first user.
    private let table = Atomic<UInt>(0)

    deinit {
        var address = table.load(ordering: .relaxed)
        while let words = unsafe Self.words(address) {
            address = unsafe UInt(words[Head.previous].load(ordering: .relaxed))
            unsafe free(words)
        }
    }

    /// The number of a user; nil where there is none yet; O(1) on average, for any thread.
    @inline(__always)
    func number(of user: UInt64) -> UInt32? {
        var address = table.load(ordering: .acquiring)
        while let words = unsafe Self.words(address) {
            let place = unsafe Self.place(of: user, words)
            if unsafe words[place].load(ordering: .acquiring) == user {
                let number = unsafe words[place + 1].load(ordering: .relaxed)
                if number != 0 { return UInt32(truncatingIfNeeded: number) }
            }
            // A table that was replaced meanwhile may have lost the user, or its number.
            let current = table.load(ordering: .acquiring)
            guard current != address else { return nil }
            address = current
        }
        return nil
    }

    /// Prefetches the place at which the search for a user begins; O(1), for any thread.
    @inline(__always)
    func prefetch(_ user: UInt64) {
        guard let words = unsafe Self.words(table.load(ordering: .acquiring)) else { return }
        let place = unsafe Self.place(Self.hash(user), words)
        unsafe cprefetch_for_read(words + place)
    }

    /// Gives a new user its number; the caller holds the lock of those who insert; O(1) over many users.
    func insert(_ user: UInt64, _ number: UInt32) {
        precondition(user != 0 && number != 0, "0 is no user, and no user's number.")
        let words = unsafe wordsWithRoom()
        unsafe Self.store(user, UInt64(number), in: words)
        unsafe words[Head.count].wrappingAdd(1, ordering: .relaxed)
    }

    /// Calls the body with each user and its number; the caller holds the lock of those who insert.
    func forEachUser(_ body: (UInt64, UInt32) -> Void) {
        guard let words = unsafe Self.words(table.load(ordering: .relaxed)) else { return }
        for place in unsafe Self.places(words) {
            let user = unsafe words[place].load(ordering: .relaxed)
            let number = unsafe words[place + 1].load(ordering: .relaxed)
            if user != 0 { body(user, UInt32(truncatingIfNeeded: number)) }
        }
    }

    /// The table in use, or a larger one in its place where it is three quarters full.
    private func wordsWithRoom() -> Words {
        let address = table.load(ordering: .relaxed)
        guard let old = unsafe Self.words(address) else {
            return unsafe publish(Self.makeTable(capacity: Self.firstCapacity, previous: 0))
        }
        let capacity = unsafe Int(old[Head.mask].load(ordering: .relaxed)) + 1
        let count = unsafe Int(old[Head.count].load(ordering: .relaxed))
        guard (count + 1) * 4 > capacity * 3 else { return unsafe old }
        let new = unsafe Self.makeTable(capacity: capacity * 2, previous: address)
        unsafe new[Head.count].store(UInt64(count), ordering: .relaxed)
        forEachUser { user, number in unsafe Self.store(user, UInt64(number), in: new) }
        _ = unsafe publish(new)
        unsafe Self.giveBack(old, capacity: capacity)
        return unsafe new
    }

    private func publish(_ words: Words) -> Words {
        table.store(UInt(bitPattern: words), ordering: .releasing)
        return unsafe words
    }

    private static func makeTable(capacity: Int, previous: UInt) -> Words {
        let wordCount = Head.wordCount + 2 * capacity
        // Zero bits are free places; `calloc` of much memory leaves its pages to be written.
        guard let block = unsafe calloc(wordCount, wordByteCount) else {
            fatalError("No memory for the numbers of \(capacity) users.")
        }
        let words = unsafe block.bindMemory(to: Atomic<UInt64>.self, capacity: wordCount)
        unsafe words[Head.mask].store(UInt64(capacity - 1), ordering: .relaxed)
        unsafe words[Head.previous].store(UInt64(previous), ordering: .relaxed)
        return unsafe words
    }

    /// Returns the pages of a replaced table, except for the one with its head.
    private static func giveBack(_ words: Words, capacity: Int) {
        let start = UInt(bitPattern: words)
        let byteCount = UInt((Head.wordCount + 2 * capacity) * wordByteCount)
        let first = (start + UInt(Head.wordCount * wordByteCount) | (pageByteCount - 1)) + 1
        let end = (start + byteCount) & ~(pageByteCount - 1)
        guard first < end else { return }
        unsafe Pages.giveBack(UnsafeMutableRawPointer(bitPattern: first), Int(end - first))
    }

    @inline(__always)
    private static func words(_ address: UInt) -> Words? { unsafe Words(bitPattern: address) }

    private static func places(_ words: Words) -> StrideTo<Int> {
        let capacity = unsafe Int(words[Head.mask].load(ordering: .relaxed)) + 1
        return stride(from: Head.wordCount, to: Head.wordCount + 2 * capacity, by: 2)
    }

    /// The place of a user, or the free place that it would take.
    @inline(__always)
    private static func place(of user: UInt64, _ words: Words) -> Int {
        var hash = hash(user)
        while true {
            let place = unsafe place(hash, words)
            let found = unsafe words[place].load(ordering: .relaxed)
            if found == user || found == 0 { return place }
            hash &+= 1
        }
    }

    @inline(__always)
    private static func place(_ hash: UInt64, _ words: Words) -> Int {
        let mask = unsafe words[Head.mask].load(ordering: .relaxed)
        return Head.wordCount &+ 2 &* Int(truncatingIfNeeded: hash & mask)
    }

    @inline(__always)
    private static func hash(_ user: UInt64) -> UInt64 {
        let hash = user &* 0x9E37_79B9_7F4A_7C15
        return hash ^ hash &>> 32
    }

    /// Fills a place: a reader that finds the user finds the number too.
    private static func store(_ user: UInt64, _ number: UInt64, in words: Words) {
        let place = unsafe place(of: user, words)
        unsafe words[place + 1].store(number, ordering: .relaxed)
        unsafe words[place].store(user, ordering: .releasing)
    }
}
