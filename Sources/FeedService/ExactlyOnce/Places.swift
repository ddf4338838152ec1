/// Elements that keep their place until they are removed; places are used again.
struct Places<Element> {
    private var elements: [Element?] = []
    private var free: [Int] = []

    var count: Int { elements.count - free.count }

    /// All places are below this one.
    var endPlace: Int { elements.count }

    /// The element at a place, which must have one; O(1).
    subscript(place: Int) -> Element {
        get {
            guard let element = elements[place] else { preconditionFailure(Self.nothingThere) }
            return element
        }
        set {
            precondition(elements[place] != nil, Self.nothingThere)
            elements[place] = newValue
        }
    }

    /// The element at a place, nil where there is none; O(1).
    func element(at place: Int) -> Element? {
        place < elements.count ? elements[place] : nil
    }

    /// Puts an element into a free place, which is returned; O(1) on average.
    mutating func insert(_ element: Element) -> Int {
        if let place = free.popLast() {
            elements[place] = element
            return place
        }
        elements.append(element)
        return elements.count - 1
    }

    mutating func remove(at place: Int) {
        precondition(elements[place] != nil, Self.nothingThere)
        elements[place] = nil
        free.append(place)
    }

    /// Moves all elements to the lowest places and gives memory back; O(places).
    ///
    /// - Returns: The new place of each old one, -1 where there was no element.
    mutating func compact() -> [Int] {
        var moved = [Int](repeating: -1, count: elements.count)
        var compacted: [Element?] = []
        compacted.reserveCapacity(count)
        for (place, element) in elements.enumerated() where element != nil {
            moved[place] = compacted.count
            compacted.append(element)
        }
        elements = compacted
        free = []
        return moved
    }

    private static var nothingThere: String { "There is an element at the place." }
}
