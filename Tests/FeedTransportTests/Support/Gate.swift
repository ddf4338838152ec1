import Synchronization

/// Holds a loop's thread, which is no thread of Swift's pool, until the test lets it go.
final class Gate: Sendable {
    private let isOpen = Atomic<Bool>(false)

    func open() {
        isOpen.store(true, ordering: .releasing)
    }

    func wait() {
        while !isOpen.load(ordering: .acquiring) {}
    }
}
