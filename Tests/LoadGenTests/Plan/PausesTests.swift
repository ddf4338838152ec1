import LoadGen
import LoadGenCommand
import Testing

/// Pauses of clients and lives of connections.
@Suite struct PausesTests {
    @Test(arguments: [
        ("0", "0"), ("5ms", "5ms"), ("exp:5ms", "exp:5ms"), ("uniform:1ms,9ms", "uniform:1ms,9ms"),
        ("", nil), ("exp:0", nil), ("exp:1ms,2ms", nil), ("uniform:9ms,1ms", nil),
        ("uniform:1ms", nil),
        ("normal:5ms", nil), ("5ms:5ms", nil), ("2h", nil), ("1ms,2ms", nil),
    ])
    func readsPauses(text: String, expected: String?) {
        #expect(ThinkTime(parsing: text)?.description == expected)
    }

    @Test func drawsPausesOfTheRightLength() {
        var stream = RandomStream(seed: 2, thread: 0, client: 0, purpose: .thoughts)
        func draw(_ time: ThinkTime) -> [Double] {
            (0..<100_000).map { _ in Double(time.next(&stream)) }
        }
        let mean = { (values: [Double]) in values.reduce(0, +) / Double(values.count) }
        #expect(Set(draw(.constant(.milliseconds(3)))) == [3_000_000])
        let even = draw(.uniform(.milliseconds(1), .milliseconds(9)))
        #expect(even.allSatisfy { (1_000_000...9_000_000).contains($0) })
        #expect(abs(mean(even) / 5_000_000 - 1) < 0.02)
        let random = draw(.exponential(.milliseconds(5)))
        #expect(abs(mean(random) / 5_000_000 - 1) < 0.02)
        // One of e^2 pauses is more than twice the mean.
        #expect(abs(Double(random.count { $0 > 1e7 }) / 13_534 - 1) < 0.05)
    }

    @Test func readsTheLivesOfConnections() throws {
        let configuration = try configure(["--reconnect-every", "1k", "--conn-life", "30s±5s"])
        #expect(configuration.connectionLife.requestCount == 1000)
        #expect(configuration.connectionLife.age == .seconds(30))
        #expect(configuration.connectionLife.jitter == .seconds(5))
        #expect(try configure(["--conn-life", "2s+-1s"]).connectionLife.jitter == .seconds(1))
        #expect(try configure(["--conn-life", "2s"]).connectionLife.jitter == .zero)
        #expect(try configure([]).connectionLife.isEndless)
        for text in ["1ms", "5s±5s", "5s±", "x", "5s±1s±1s", "25h"] {
            #expect(throws: FlagError.self, "\(text)") { try configure(["--conn-life", text]) }
        }
        #expect(throws: FlagError.self) { try configure(["--connect-rate", "0"]) }
        #expect(throws: FlagError.self) { try configure(["--think", "5ms", "--rate", "10"]) }
    }

    @Test func opensConnectionsAtTheirRateAndFewAtOnce() {
        var counts = ConnectionCounts(clientCount: 6)
        #expect(counts.nextToConnect(dueCount: 1, limit: 3) == 0)
        #expect(counts.nextToConnect(dueCount: 1, limit: 3) == nil)
        #expect(counts.nextToConnect(dueCount: 9, limit: 3) == 1)
        #expect(counts.nextToConnect(dueCount: 9, limit: 3) == 2)
        #expect(counts.nextToConnect(dueCount: 9, limit: 3) == nil)
        counts.decide(isOpen: true)
        counts.decide(isOpen: false)
        #expect(counts.nextToConnect(dueCount: 9, limit: 3) == 3)
        #expect(counts.nextToConnect(dueCount: 9, limit: 3) == 4)
        #expect(counts.nextToConnect(dueCount: 9, limit: 3) == nil)
        counts.decide(isOpen: true)
        #expect(counts.nextToConnect(dueCount: 9, limit: 3) == 5)
        #expect(counts.areBegun)
        #expect(counts.nextToConnect(dueCount: 9, limit: 9) == nil)
    }
}
