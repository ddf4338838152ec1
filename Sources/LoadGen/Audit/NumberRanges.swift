/// Numbers as runs of consecutive ones, each given by its first number and its length.
///
/// The ids of posts made in order are a few runs, however many posts there are.
package enum NumberRanges {
    /// The runs of `numbers`, in their order: first, length, first, length, ….
    package static func encode(_ numbers: some Sequence<UInt64>) -> [UInt64] {
        var runs: [UInt64] = []
        for number in numbers {
            // The last number is compared: there may be none behind it.
            if let last = runs.indices.last, number > 0,
                runs[last - 1] + (runs[last] - 1) == number - 1
            {
                runs[last] += 1
            } else {
                runs += [number, 1]
            }
        }
        return runs
    }

    /// The numbers of `runs`; nil where these are invalid or stand for more than `limit` numbers.
    ///
    /// 2^64 - 1 is in no run: none could end behind it.
    package static func decode(_ runs: [UInt64], limit: Int) -> [UInt64]? {
        guard runs.count.isMultiple(of: 2) else { return nil }
        var numbers: [UInt64] = []
        for place in stride(from: 0, to: runs.count, by: 2) {
            let (end, isTooLarge) = runs[place].addingReportingOverflow(runs[place + 1])
            guard !isTooLarge, runs[place + 1] <= UInt64(limit - numbers.count) else { return nil }
            numbers += runs[place]..<end
        }
        return numbers
    }
}
