package import FeedTestSupport

/// What a power cut does with changes that were not synced.
package struct PowerCutFate {
    private let keptPercent: Int

    /// Draws whether all is lost, all kept, or some of each.
    package init(_ generator: inout SeededGenerator) {
        keptPercent = [0, 20, 50, 80, 100].randomElement(using: &generator) ?? 50
    }

    /// Draws whether one change outlives the cut.
    func keepsChange(_ generator: inout SeededGenerator) -> Bool {
        Int.random(in: 0..<100, using: &generator) < keptPercent
    }

    /// One of the states that something had since it was synced, the durable one coming first.
    func pick<State>(_ states: [State], _ generator: inout SeededGenerator) -> State {
        guard keepsChange(&generator) else { return states[0] }
        let recent = max(0, states.count - 3)
        return states[Int.random(in: recent..<states.count, using: &generator)]
    }
}
