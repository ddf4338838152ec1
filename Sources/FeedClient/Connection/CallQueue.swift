/// Numbers of calls, first in, first out.
struct CallQueue {
    private var tokens: [UInt64] = []
    private var head = 0

    /// Adds the last one.
    mutating func append(_ token: UInt64) {
        tokens.append(token)
    }

    /// Takes the first one; O(1), amortised.
    mutating func popFirst() -> UInt64? {
        guard head < tokens.count else { return nil }
        defer { removeTakenIfMost() }
        head += 1
        return tokens[head - 1]
    }

    /// How many numbers it holds.
    var count: Int { tokens.count - head }

    /// Drops the numbers that nobody waits for; O(count).
    mutating func removeAll(where isGone: (UInt64) -> Bool) {
        tokens.removeFirst(head)
        head = 0
        tokens.removeAll(where: isGone)
    }

    /// Drops all numbers.
    mutating func removeAll() {
        tokens = []
        head = 0
    }

    private mutating func removeTakenIfMost() {
        if head == tokens.count {
            tokens.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 64, head * 2 >= tokens.count {
            tokens.removeFirst(head)
            head = 0
        }
    }
}
