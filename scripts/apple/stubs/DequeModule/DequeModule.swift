// What FeedClient names of swift-collections.
public struct Deque<Element>: RandomAccessCollection, MutableCollection, RangeReplaceableCollection,
    ExpressibleByArrayLiteral
{
    var base: [Element]
    public init() { base = [] }
    public init(arrayLiteral elements: Element...) { base = elements }
    public var startIndex: Int { 0 }
    public var endIndex: Int { base.count }
    public subscript(_ i: Int) -> Element {
        get { base[i] }
        set { base[i] = newValue }
    }
    public mutating func replaceSubrange<C: Collection>(_ r: Range<Int>, with c: C)
    where C.Element == Element { base.replaceSubrange(r, with: c) }
    public mutating func popFirst() -> Element? { base.isEmpty ? nil : base.removeFirst() }
    public mutating func popLast() -> Element? { base.popLast() }
    public mutating func prepend<S: Sequence>(contentsOf s: S) where S.Element == Element {
        base.insert(contentsOf: Array(s), at: 0)
    }
    public mutating func prepend(_ e: Element) { base.insert(e, at: 0) }
}
extension Deque: Sendable where Element: Sendable {}
