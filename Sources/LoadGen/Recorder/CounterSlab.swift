/// Counters at fixed addresses: one addition each, with no check of exclusive access.
@safe struct CounterSlab: ~Copyable {
    private let counters: UnsafeMutableBufferPointer<UInt64>
    private let count: Int

    /// `count` counters at 0.
    init(count: Int) {
        self.count = count
        unsafe counters = .allocate(capacity: count)
        unsafe counters.initialize(repeating: 0)
    }

    deinit {
        unsafe counters.deallocate()
    }

    /// The counter number `index`.
    @inline(__always)
    subscript(_ index: Int) -> UInt64 {
        get {
            precondition(index >= 0 && index < count, "No such counter.")
            return unsafe counters[index]
        }
        nonmutating set {
            precondition(index >= 0 && index < count, "No such counter.")
            unsafe counters[index] = newValue
        }
    }
}
