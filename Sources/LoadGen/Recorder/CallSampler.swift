/// Chooses the calls of a thread that ask the service for its own times: one in each 64.
///
/// It is another place in each group of 64. With a fixed place, a pipeline of 64 would ask with the
/// same call of each write, and the figures would be of that call.
package struct CallSampler: Sendable {
    /// The size of a group.
    package static let sampledEvery = 64

    private var place = 0
    private var sampledPlace = 0

    /// A sampler at the start of a group.
    package init() {}

    /// Whether the next call asks for the times.
    package mutating func takesNext() -> Bool {
        let isSampled = place == sampledPlace
        place += 1
        if place == Self.sampledEvery {
            place = 0
            sampledPlace = (sampledPlace + Self.step) % Self.sampledEvery
        }
        return isSampled
    }

    /// Odd, so that 64 groups have each place once, and near 64 times the golden ratio, so that
    /// neighbouring groups have places far apart.
    private static let step = 39
}
