package import Synchronization

/// A clock that a test sets: it stands still, steps and jumps back.
package final class TestClock: Sendable {
    /// The Unix time that the clock shows.
    package let milliseconds = Atomic<Int64>(1_700_000_000_000)

    /// A clock that stands still.
    package init() {}
}
