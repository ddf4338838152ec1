import FakeReplica
import FeedReplica
import FeedTestSupport
import Testing

@Suite struct FrameTests {
    @Test func kindsHaveTheirNumbers() {
        #expect(FrameKind.allCases.map(\.rawValue) == Array(1...9) + Array(64...79))
    }
}
