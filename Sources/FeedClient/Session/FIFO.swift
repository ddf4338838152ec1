/// Elements that leave in the order in which they came.
struct FIFO<Value> {
    private var elements: [Value] = []
    private var head = 0

    /// How many elements it holds.
    var count: Int { elements.count - head }

    /// The element that leaves next; O(1).
    var first: Value? { head < elements.count ? elements[head] : nil }

    /// Adds the last one; O(1), amortised.
    mutating func append(_ element: Value) {
        elements.append(element)
    }

    /// Takes the first one; O(1), amortised.
    mutating func popFirst() -> Value? {
        guard head < elements.count else { return nil }
        defer { removeTakenIfMost() }
        head += 1
        return elements[head - 1]
    }

    /// Drops some elements; O(count).
    mutating func removeAll(where isGone: (Value) -> Bool) {
        elements.removeFirst(head)
        head = 0
        elements.removeAll(where: isGone)
    }

    private mutating func removeTakenIfMost() {
        if head == elements.count {
            elements.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 64, head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
    }
}
