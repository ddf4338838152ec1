import LoadGen
import Testing

@Suite struct QuantityTests {
    @Test(
        arguments: [
            ("250", 250), ("2k", 2000), ("1.5M", 1_500_000), ("1G", 1_000_000_000),
        ] as [(String, UInt64)]
    )
    func readsCounts(_ text: String, _ value: UInt64) {
        #expect(Quantity.count(text) == value)
    }

    @Test(arguments: ["", "k", "1.5", "-1", "1e3", "2 k", "1kk", "0x10", "٣"])
    func refusesWhatIsNoCount(_ text: String) {
        #expect(Quantity.count(text) == nil)
    }

    @Test(
        arguments: [
            ("1", 1_000_000_000), ("5ms", 5_000_000), ("1.5us", 1500), ("20ns", 20),
            ("2m", 120_000_000_000),
            ("1h", 3_600_000_000_000), ("1m30s", 90_000_000_000), ("1h0.5m2ms", 3_630_002_000_000),
        ] as [(String, Int64)]
    )
    func readsDurations(_ text: String, _ nanoseconds: Int64) {
        #expect(Quantity.duration(text) == .nanoseconds(nanoseconds))
    }

    @Test(arguments: ["", "s", "1m30", "30s1m", "1m1m", "-1s", "1 s", "1m s", ".", "1e3s"])
    func refusesWhatIsNoDuration(_ text: String) {
        #expect(Quantity.duration(text) == nil)
    }
}
