import FeedConcurrency
import Testing

@Suite struct ObjectMemoryTests {
    private final class Item {}

    @Test func doesNotKeepItsObject() {
        var item: Item? = Item()
        weak let observed = item
        let memory = item.map { ObjectMemory.of($0, byteCount: 200) } ?? .none
        memory.prefetch()
        #expect(observed != nil)
        item = nil
        #expect(observed == nil)
        // The address has no object now, and 0 never had one; neither faults.
        memory.prefetch()
        ObjectMemory.none.prefetch()
    }
}
