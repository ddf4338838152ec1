extension LatencyBuckets {
    /// More than an interval counts, and few enough that those of a day add up.
    static let mostOfAnInterval: UInt64 = 1 << 36

    /// The buckets in the latencies of an interval; nil where no latencies have such buckets.
    init?(_ latencies: JSONValue) {
        let first = latencies["first_bucket"]?.double ?? 0
        let numbers = (latencies["buckets"]?.elements ?? []).map { $0.double ?? 0 }
        let room = Self.number(.max) + 1 - numbers.count
        guard let first = Int(exactly: first), first >= 0, first <= room,
            numbers.allSatisfy({ $0 >= 0 && $0 <= Double(Self.mostOfAnInterval) })
        else { return nil }
        self.init(first: first, counts: numbers.map { UInt64($0) })
    }
}
