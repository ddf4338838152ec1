import Foundation

/// How long a client waits between an answer and its next request, as `--think` names it.
package enum ThinkTime: Sendable, Equatable {
    /// It does not wait.
    case none
    /// Always the same time.
    case constant(Duration)
    /// Exponentially distributed with a mean: memoryless, as of many independent users.
    case exponential(Duration)
    /// Evenly distributed between two times.
    case uniform(Duration, Duration)

    /// The forms that `--think` takes, for its error.
    package static let forms = "0, 5ms, exp:5ms or uniform:1ms,9ms, each at most 1h"

    /// The time that `text` names, or nil.
    package init?(parsing text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let times = (parts.last ?? "").split(separator: ",", omittingEmptySubsequences: false)
            .map { Quantity.duration(String($0)) }
        guard parts.count <= 2, times.allSatisfy({ $0.map { $0 <= .seconds(3600) } ?? false })
        else { return nil }
        let known = times.compactMap(\.self)
        switch (parts.count == 2 ? parts[0] : "", known.count) {
        case ("", 1): self = known[0] == .zero ? .none : .constant(known[0])
        case ("exp", 1) where known[0] > .zero: self = .exponential(known[0])
        case ("uniform", 2) where known[0] <= known[1]: self = .uniform(known[0], known[1])
        default: return nil
        }
    }

    /// The next time, in nanoseconds.
    package func next(_ stream: inout RandomStream) -> UInt64 {
        switch self {
        case .none: return 0
        case .constant(let time): return time.nanoseconds
        case .exponential(let mean):
            return UInt64(-log(1 - stream.nextUnit()) * Double(mean.nanoseconds))
        case .uniform(let low, let high):
            let span = Double(high.nanoseconds - low.nanoseconds)
            return low.nanoseconds + UInt64(stream.nextUnit() * span)
        }
    }
}

extension ThinkTime: CustomStringConvertible {
    /// The text that `--think` takes.
    package var description: String {
        switch self {
        case .none: "0"
        case .constant(let time): NumberFormat.duration(time)
        case .exponential(let mean): "exp:\(NumberFormat.duration(mean))"
        case .uniform(let low, let high):
            "uniform:\(NumberFormat.duration(low)),\(NumberFormat.duration(high))"
        }
    }
}
