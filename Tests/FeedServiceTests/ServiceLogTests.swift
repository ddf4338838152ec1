import FeedService
import FeedTestSupport
import FeedTransport
import Logging
import Testing

/// The log lines that clients can cause, and their rate.
struct ServiceLogTests {
    /// Keeps the lines that are logged.
    private struct Handler: LogHandler {
        let lines: Locked<[String]>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.withLock { $0.append("\(event.level): \(event.message)") }
        }
    }

    @Test func clientNamesAreLoggedOnceASecond() {
        let lines = Locked<[String]>([])
        let time = Locked<Int64>(5_000)
        let log = ServiceLog(
            Logger(label: "test", factory: { _ in Handler(lines: lines) }),
            unixMilliseconds: { time.withLock { $0 } }
        )
        for number in 0..<3 { log.introduced("app/\(number)", from: .v4(0x7f00_0002)) }
        #expect(lines.withLock { $0 } == [#"info: Client "app/0" says Hello from 127.0.0.2"#])
        time.withLock { $0 = 6_000 }
        log.introduced("late", from: .v4(0x7f00_0002))
        #expect(
            lines.withLock { $0.last }
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
}
