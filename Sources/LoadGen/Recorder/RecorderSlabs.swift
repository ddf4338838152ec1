import Histogram

/// Histograms at fixed addresses, so that recording neither copies nor tracks an access.
///
/// A histogram that is a property of a class costs an exclusivity check and a uniqueness check of
/// the class for each value, several times the cost of the value itself.
@safe struct HistogramSlab: ~Copyable {
    private let histograms: UnsafeMutablePointer<LatencyHistogram>
    private let count: Int

    init(count: Int) {
        self.count = count
        unsafe histograms = .allocate(capacity: count)
        unsafe histograms.initialize(repeating: LatencyScale.makeHistogram(), count: count)
        // Equal copies share their counters until the first write; this makes that write now.
        for index in 0..<count { unsafe (histograms + index).pointee.reset() }
    }

    deinit {
        unsafe histograms.deinitialize(count: count)
        unsafe histograms.deallocate()
    }

    /// Adds a value, `times` times; values beyond the scale count as its highest value.
    @inline(__always)
    func record(_ index: Int, _ nanoseconds: UInt64, _ times: UInt64) {
        precondition(index >= 0 && index < count, "No such histogram.")
        unsafe (histograms + index).pointee
            .record(min(nanoseconds, LatencyScale.highestNanoseconds), count: times)
    }

    func add(_ index: Int, to total: inout LatencyHistogram) {
        precondition(index >= 0 && index < count, "No such histogram.")
        guard unsafe histograms[index].totalCount > 0 else { return }
        unsafe total.add(histograms[index])
    }

    /// What histogram `index` holds, or nil where it holds nothing.
    func copy(_ index: Int) -> LatencyHistogram? {
        precondition(index >= 0 && index < count, "No such histogram.")
        guard unsafe histograms[index].totalCount > 0 else { return nil }
        var copy = LatencyScale.makeHistogram()
        unsafe copy.add(histograms[index])
        return copy
    }

    func reset(_ index: Int) {
        precondition(index >= 0 && index < count, "No such histogram.")
        guard unsafe histograms[index].totalCount > 0 else { return }
        unsafe (histograms + index).pointee.reset()
    }
}

/// Counters at fixed addresses: one addition each, with no check of exclusive access.
@safe struct CounterSlab: ~Copyable {
    private let counters: UnsafeMutableBufferPointer<UInt64>
    private let count: Int

    init(count: Int) {
        self.count = count
        unsafe counters = .allocate(capacity: count)
        unsafe counters.initialize(repeating: 0)
    }

    deinit {
        unsafe counters.deallocate()
    }

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
