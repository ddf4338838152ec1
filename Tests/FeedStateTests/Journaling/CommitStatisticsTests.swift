import FeedState
import Testing

@Suite struct CommitStatisticsTests {
    @Test func addsUpWhatWasCommitted() {
        let statistics = CommitStatistics()
        statistics.count(entryCount: 3, took: .microseconds(250))
        statistics.count(entryCount: 1, took: .milliseconds(2))
        #expect(statistics.commitCount == 2)
        #expect(statistics.entryCount == 4)
        #expect(statistics.maximumMicroseconds == 2_000)
    }

    @Test func percentilesAreOfTheLatestCommits() {
        let statistics = CommitStatistics()
        #expect(statistics.microseconds(percentile: 50) == 0)
        // Long ones, that the later thousand push out.
        for _ in 0..<10 { statistics.count(entryCount: 1, took: .seconds(1)) }
        for microseconds in 1...CommitStatistics.recentCount {
            statistics.count(entryCount: 1, took: .microseconds(microseconds))
        }
        #expect(statistics.microseconds(percentile: 50) == 512)
        #expect(statistics.microseconds(percentile: 99) == 1_014)
        #expect(statistics.microseconds(percentile: 100) == 1_024)
        #expect(statistics.maximumMicroseconds == 1_000_000)
    }
}
