import FeedService
import Testing

/// How many event loops a service has where no flag names a number.
@Suite struct ThreadCountTests {
    @Test(
        "one loop a core, as many as the limits allow",
        arguments: [
            (1, 1_048_576, 1), (2, 1024, 2), (42, 1024, 42), (64, 1024, 64), (128, 4096, 128),
            (300, 1_048_576, 256), (200, 1024, 120), (64, 256, 24), (8, 64, 1), (8, 0, 1),
        ]
    )
    func fitsTheMachine(coreCount: Int, openFileLimit: Int, threadCount: Int) {
        let count = ServiceConfiguration.defaultThreadCount(
            coreCount: coreCount,
            openFileLimit: openFileLimit
        )
        #expect(count == threadCount)
        let files = OpenFileBudget(limit: openFileLimit, threadCount: count)
        #expect(openFileLimit < 73 || files.connectionCount > 0)
    }
}
