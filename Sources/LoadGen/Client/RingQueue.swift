/// A first-in, first-out queue of small numbers that keeps its memory.
package struct RingQueue {
    private var items = [Int](repeating: 0, count: 16)
    private var head = 0
    private var count = 0

    /// An empty queue.
    package init() {}

    /// The number that has waited longest.
    package var first: Int? { count > 0 ? items[head] : nil }

    /// Adds a number at the end, in amortised O(1).
    package mutating func append(_ item: Int) {
        if count == items.count { grow() }
        items[(head + count) & (items.count - 1)] = item
        count += 1
    }

    /// Removes the number that has waited longest; there must be one.
    package mutating func removeFirst() {
        precondition(count > 0, "An empty queue has no first number.")
        head = (head + 1) & (items.count - 1)
        count -= 1
    }

    private mutating func grow() {
        items = Array(items[head...]) + Array(items[..<head])
        items += [Int](repeating: 0, count: items.count)
        head = 0
    }
}
