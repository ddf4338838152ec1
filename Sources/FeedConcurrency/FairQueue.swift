/// A queue whose elements have owners, such as hosts: the next element is the oldest one of the owner that
/// has cost least.
///
/// The caller says what an element has cost, in a unit of its own. A newcomer has cost nothing, so it does
/// not wait behind the elements that others have queued. Among owners of the same cost, the one that has
/// waited longest is next. Costs fade: each time that the owners together have cost so much, all are halved.
package struct FairQueue<Owner: Hashable & Sendable, Element> {
    fileprivate struct Line {
        /// The oldest first.
        var elements: [Element] = []
        /// When the owner began to wait for its next element.
        var turn = 0
        var cost = 0
    }

    /// The owners with elements, and those that have cost something lately.
    private var lines: [Owner: Line] = [:]
    private var turnCount = 0
    private var cost = 0
    private let halvingCost: Int
    package private(set) var count = 0

    /// An empty queue, which halves all costs each time that the owners together have cost so much.
    package init(halvingCost: Int) { self.halvingCost = halvingCost }

    /// Whether there are no elements.
    package var isEmpty: Bool { count == 0 }

    /// The number of an owner's elements.
    package func count(of owner: Owner) -> Int { lines[owner]?.elements.count ?? 0 }

    /// Adds an element behind those of its owner.
    package mutating func append(_ element: Element, of owner: Owner) {
        if count(of: owner) == 0 { lines[owner, default: Line()].turn = nextTurn() }
        lines[owner, default: Line()].elements.append(element)
        count += 1
    }

    /// Whether the owner of the next element has cost less than half of what owners have on average.
    ///
    /// O(owners). Of costs of 1,000, 9,000 and 11,000, whose mean is 7,000, the first is below its share.
    package var isNextBelowShare: Bool {
        guard let owner = nextOwner, let cost = lines[owner]?.cost else { return false }
        let costs = lines.values.reduce(0) { $0 + $1.cost }
        return cost * 2 * lines.count < costs
    }

    private var nextOwner: Owner? {
        let waiting = lines.lazy.filter { !$0.value.elements.isEmpty }
        return waiting.min {
            ($0.value.cost, $0.value.turn) < ($1.value.cost, $1.value.turn)
        }?.key
    }

    /// Takes the next element; O(owners).
    package mutating func popFirst() -> (owner: Owner, element: Element)? {
        guard let owner = nextOwner else { return nil }
        let element = lines[owner, default: Line()].elements.removeFirst()
        lines[owner, default: Line()].turn = nextTurn()
        count -= 1
        forget(owner)
        return (owner, element)
    }

    /// Counts what an element of an owner has cost; O(owners) where that halves all costs.
    package mutating func charge(_ owner: Owner, _ cost: Int) {
        lines[owner, default: Line()].cost += cost
        forget(owner)
        self.cost += cost
        guard self.cost >= halvingCost else { return }
        self.cost = 0
        for owner in Array(lines.keys) {
            lines[owner, default: Line()].cost /= 2
            forget(owner)
        }
    }

    /// Forgets what owners have cost, if nothing waits: they have taken nothing from each other; O(owners).
    package mutating func forgetCosts() {
        guard isEmpty else { return }
        lines.removeAll(keepingCapacity: true)
        cost = 0
    }

    /// Takes the newest element of the owner that has most of them, so that another owner has room for one.
    ///
    /// O(owners). Nil where the other owner would then have as many.
    package mutating func giveWay(to other: Owner) -> Element? {
        let most = lines.max {
            ($0.value.elements.count, $0.value.cost) < ($1.value.elements.count, $1.value.cost)
        }
        guard let owner = most?.key, count(of: owner) > count(of: other) + 1 else { return nil }
        count -= 1
        return lines[owner, default: Line()].elements.removeLast()
    }

    /// Takes the elements for which the body says so; O(elements).
    package mutating func removeAll(where isTaken: (Element) -> Bool) -> [Element] {
        var taken: [Element] = []
        for owner in Array(lines.keys) {
            lines[owner, default: Line()].elements.removeAll { element in
                guard isTaken(element) else { return false }
                taken.append(element)
                return true
            }
            forget(owner)
        }
        count -= taken.count
        return taken
    }

    /// Forgets an owner that waits for nothing and has cost nothing.
    private mutating func forget(_ owner: Owner) {
        guard let line = lines[owner], line.elements.isEmpty, line.cost == 0 else { return }
        lines[owner] = nil
    }

    private mutating func nextTurn() -> Int {
        turnCount += 1
        return turnCount
    }
}

extension FairQueue: Sendable where Element: Sendable {}
extension FairQueue.Line: Sendable where Element: Sendable {}
