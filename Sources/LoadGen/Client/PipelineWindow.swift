/// How many requests a connection may take now.
///
/// It counts requests and answers, and sees no bytes.
package struct PipelineWindow: Sendable, Equatable {
    /// The most requests in flight.
    package let depth: Int
    /// When there is room again.
    package let mode: PipelineMode
    /// Requests without an answer.
    package private(set) var inFlightCount = 0

    /// An empty pipeline.
    package init(depth: Int, mode: PipelineMode) {
        precondition(depth > 0, "A pipeline holds a request.")
        self.depth = depth
        self.mode = mode
    }

    /// How many requests may leave now.
    ///
    /// A batch leaves as a whole, once the previous batch is answered.
    @inline(__always)
    package var room: Int {
        switch mode {
        case .window: depth - inFlightCount
        case .batch: inFlightCount == 0 ? depth : 0
        }
    }

    /// Records requests that leave.
    @inline(__always)
    package mutating func send(_ count: Int) {
        inFlightCount += count
        assert(inFlightCount <= depth, "No more requests leave than there is room for.")
    }

    /// Records answered requests.
    @inline(__always)
    package mutating func answer(_ count: Int) {
        inFlightCount -= count
        assert(inFlightCount >= 0, "Only what was sent is answered.")
    }
}
