import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// The log lines that clients can cause, and their rate.
struct ServiceLogTests {
    @Test func clientNamesAreLoggedOnceASecond() {
        let lines = LoggedLines()
        let time = Locked<Int64>(5_000)
        let log = ServiceLog(
            lines.logger,
            unixMilliseconds: { time.withLock { $0 } }
        )
        for number in 0..<3 { log.introduced("app/\(number)", from: .v4(0x7f00_0002)) }
        #expect(lines.all == [#"info: Client "app/0" says Hello from 127.0.0.2"#])
        time.withLock { $0 = 6_000 }
        log.introduced("late", from: .v4(0x7f00_0002))
        #expect(
            lines.all.last
                == #"info: Client "late" says Hello from 127.0.0.2 (and 2 like it before)"#
        )
    }

    @Test(arguments: [
        ("plain name/1.0", #""plain name/1.0""#),
        ("two\nlines", #""two\u{a}lines""#),
        ("\u{1b}[31mred", #""\u{1b}[31mred""#),
        ("a\"b\\c", #""a\"b\\c""#),
        ("right\u{202e}left", #""right\u{202e}left""#),
        ("Größe 🍎", #""Größe 🍎""#),
        (String(repeating: "x", count: 64), "\"\(String(repeating: "x", count: 64))\""),
        (String(repeating: "x", count: 65), "\"\(String(repeating: "x", count: 64))\"…"),
    ])
    func aTextIsQuotedOnOneLine(text: String, quoted: String) {
        #expect(ServiceLog.quoted(text) == quoted)
    }

    @Test("slow calls are logged once a second for each method")
    func slowCallsAreLoggedOnceASecond() {
        let lines = LoggedLines()
        let time = Locked<Int64>(5_000)
        let log = ServiceLog(lines.logger, unixMilliseconds: { time.withLock { $0 } })
        func slow(_ method: FeedService.Method, _ count: Int, _ id: UInt64) {
            log.slow(
                AnsweredCalls.Run(method, count: count, firstID: id),
                from: SocketAddress(host: .v4(0x7f00_0002), port: 4_000),
                nanoseconds: 143_900_000,
                heldNanoseconds: 120_000_000
            )
        }
        slow(.castVote, 16, 8_123)
        slow(.castVote, 1, 8_139)
        slow(.castVote, 1, 8_140)
        slow(.getPost, 1, 7)
        time.withLock { $0 = 6_000 }
        slow(.castVote, 1, 9_000)
        let times = "from 127.0.0.2:4000 took 143 ms, held for 120 ms of them"
        #expect(
            lines.all == [
                "warning: slow: cast_vote 8123 and 15 after it \(times)",
                "warning: slow: get_post 7 \(times)",
                "warning: slow: cast_vote 9000 \(times) (and 2 like it before)",
            ]
        )
    }
}
