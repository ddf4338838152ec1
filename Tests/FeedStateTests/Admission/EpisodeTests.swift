import FeedState
import Testing

@Suite struct EpisodeTests {
    private let start = ContinuousClock.now

    @Test func isToldOfAtItsBeginningNowAndThenAndAtItsEnd() {
        var episode = Episode()
        #expect(episode.observe(false, at: start) == nil)
        #expect(episode.observe(true, at: start) == .lasts)
        #expect(episode.isUnderWay)
        #expect(episode.observe(true, at: start + .seconds(9)) == nil)
        #expect(episode.observe(true, at: start + .seconds(10)) == .lasts)
        #expect(episode.observe(false, at: start + .seconds(12)) == .ended(after: .seconds(12)))
        #expect(!episode.isUnderWay)
        #expect(episode.observe(false, at: start + .seconds(13)) == nil)
    }

    @Test func oneThatComesAndGoesIsToldOfOnceInTenSeconds() {
        var episode = Episode()
        var reports = 0
        for tick in 0..<1_000 {
            let now = start + .milliseconds(100 * tick)
            if episode.observe(tick.isMultiple(of: 2), at: now) != nil { reports += 1 }
        }
        // In 100 seconds ten beginnings, and the end of each.
        #expect(reports == 20)
    }

    @Test func theEndOfWhatNobodyWasToldOfIsNotToldEither() {
        var episode = Episode()
        #expect(episode.observe(true, at: start) == .lasts)
        #expect(episode.observe(false, at: start + .seconds(1)) == .ended(after: .seconds(1)))
        #expect(episode.observe(true, at: start + .seconds(2)) == nil)
        #expect(episode.observe(false, at: start + .seconds(3)) == nil)
    }
}
