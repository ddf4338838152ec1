internal import CPrefetch
import Glibc
import Synchronization

/// The addresses and the sizes of a stripe's tables of ballots, for prefetching without the stripe's
/// lock.
///
/// A thread without the lock may read them while a table grows, and ask for an address that no table
/// has. Such a prefetch is wasted and harmless. `Sendable` because the words are atomic, and nobody
/// reads the tables through them.
@safe
struct BallotDirectory: BitwiseCopyable, @unchecked Sendable {
    /// A table's number of places, and the addresses of what the places have.
    private enum Word {
        static let count = 0
        static let words = 1
        static let crowdedCount = 2
        static let crowdedKeys = 3
        static let crowdedWords = 4
        static let total = 5
    }

    private let base: UnsafeMutablePointer<Atomic<UInt>>

    /// The directory of tables without places, to be freed by `free()`.
    init() {
        guard let block = unsafe calloc(Word.total, MemoryLayout<UInt>.stride) else {
            fatalError("No memory for the directory of a table of ballots.")
        }
        unsafe base = block.bindMemory(to: Atomic<UInt>.self, capacity: Word.total)
    }

    /// Sets where the tables are, and how many places they have.
    func set(words: borrowing HugeWords, _ crowded: borrowing CrowdedBallots) {
        set(Word.words, words.address)
        set(Word.count, UInt(words.count))
        let addresses = crowded.addresses
        set(Word.crowdedKeys, addresses.keys)
        set(Word.crowdedWords, addresses.words)
        set(Word.crowdedCount, UInt(addresses.count))
    }

    /// Prefetches the places at which the search for a voter's ballot begins; does nothing for empty
    /// tables.
    @inline(__always)
    func prefetch(_ slot: UInt32, _ voter: VoterID) {
        let count = get(Word.count)
        if count > 0 {
            let key = BallotTable.key(slot, voter)
            let place = BallotTable.firstPlace(of: key, among: Int(bitPattern: count))
            prefetch(get(Word.words), place)
        }
        let crowdedCount = get(Word.crowdedCount)
        if crowdedCount > 0 {
            let key = CrowdedBallots.key(slot, voter)
            let place = BallotTable.firstPlace(of: key, among: Int(bitPattern: crowdedCount))
            prefetch(get(Word.crowdedKeys), place)
            prefetch(
                get(Word.crowdedWords),
                place &* CrowdedBallots.wordCount &+ CrowdedBallots.word(voter)
            )
        }
    }

    /// Frees the directory, but not the tables.
    func free() { unsafe Glibc.free(base) }

    @inline(__always)
    private func get(_ word: Int) -> UInt { unsafe base[word].load(ordering: .relaxed) }

    private func set(_ word: Int, _ value: UInt) {
        unsafe base[word].store(value, ordering: .relaxed)
    }

    @inline(__always)
    private func prefetch(_ address: UInt, _ index: Int) {
        let word = address &+ UInt(bitPattern: index &* MemoryLayout<UInt64>.stride)
        unsafe cprefetch_for_write(UnsafeRawPointer(bitPattern: word))
    }
}
