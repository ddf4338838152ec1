import FeedConcurrency
import FeedService
import FeedTestSupport
import FeedTransport
import Foundation
import Logging
import Testing

struct LogTests {
    /// Keeps the lines that pass a threshold.
    private struct Handler: LogHandler {
        let lines: Locked<[String]>
        let threshold: LogThreshold
        var metadata: Logger.Metadata = [:]

        var logLevel: Logger.Level {
            get { threshold.level }
            set { _ = newValue }
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.withLock { $0.append("\(event.level): \(event.message)") }
        }
    }

    private static func lines(_ threshold: LogThreshold, _ body: (Logger) -> Void) -> [String] {
        let lines = Locked<[String]>([])
        body(Logger(label: "test", factory: { _ in Handler(lines: lines, threshold: threshold) }))
        return lines.withLock { $0 }
    }

    @Test(
        "a signal switches to debug and back, and its line is always there",
        arguments: [
            (Logger.Level.info, [Logger.Level.debug, .info]), (.warning, [.debug, .warning]),
            (.critical, [.debug, .critical]), (.debug, [.info, .debug]), (.trace, [.info, .debug]),
        ]
    )
    func switchesTheLevel(first: Logger.Level, next: [Logger.Level]) {
        let threshold = LogThreshold(first)
        #expect(threshold.level == first)
        let lines = Self.lines(threshold) { logger in
            for level in next {
                threshold.toggle(logger)
                #expect(threshold.level == level)
            }
        }
        let expected = next.map {
            "notice: SIGUSR1: the log has lines of the level \($0) and above from now on"
        }
        #expect(lines == expected)
    }

    @Test func aHandlerHasTheLevelOfTheProcess() {
        let threshold = LogThreshold(.warning)
        var handler = ServiceLogHandler("test", threshold, .text, to: StandardError())
        handler.logLevel = .trace
        #expect(handler.logLevel == .warning)
    }

    @Test func aJSONLineIsAnObjectOnOneLine() throws {
        let line = JSONLine(
            level: "warning",
            message: "a \"name\"\nand a path /x",
            metadata: ["host": "127.0.0.2", "count": "3"],
            unixMilliseconds: 1_767_225_600_123
        )
        #expect(
            line.text
                == #"{"level":"warning","message":"a \"name\"\nand a path /x","metadata""#
                + #":{"count":"3","host":"127.0.0.2"},"time":"2026-01-01T00:00:00.123Z"}"#
        )
        let read = try JSONDecoder().decode(JSONLine.self, from: Data(line.text.utf8))
        #expect(read == line)
    }

    @Test(arguments: [
        ("OVERLOADED", Logger.Level.warning), ("RATE_LIMITED", .warning),
        ("NO_ROOM_FOR_POSTS", .warning), ("TOO_MANY_DEVICES", .warning),
        ("TOO_MANY_LATER_ONES", .warning),
        ("SERVICE_ONLY", .warning), ("READ_ONLY", .debug), ("CLOCK_JUMPED", .debug),
        ("POST_NOT_FOUND", .debug), ("BAD_FIELD", .debug),
    ])
    func limitsAndRightsMatter(reason: String, level: Logger.Level) {
        #expect(RefusalLevel.of(reason) == level)
    }

    @Test("a refusal that matters is logged once a second, for each reason")
    func refusalsAreLoggedOnceASecond() {
        let time = Locked<Int64>(5_000)
        let threshold = LogThreshold(.info)
        let lines = Self.lines(threshold) { logger in
            let log = ServiceLog(logger, unixMilliseconds: { time.withLock { $0 } })
            for _ in 0..<3 { log.refused(.castVote, "OVERLOADED", from: .v4(0x7f00_0002)) }
            log.refused(.hello, "TOO_MANY_CHANNELS", from: .v4(0x7f00_0003))
            log.refused(.getPost, "POST_NOT_FOUND", from: .v4(0x7f00_0002))
            time.withLock { $0 = 6_000 }
            log.refused(.createPost, "OVERLOADED", from: .v4(0x7f00_0002))
            threshold.toggle(logger)
            log.refused(.getPost, "POST_NOT_FOUND", from: .v4(0x7f00_0002))
        }
        #expect(
            lines.filter { !$0.contains("SIGUSR1") } == [
                "warning: refused cast_vote from 127.0.0.2: OVERLOADED",
                "warning: refused hello from 127.0.0.3: TOO_MANY_CHANNELS",
                "warning: refused create_post from 127.0.0.2: OVERLOADED (and 2 like it before)",
                "debug: refused get_post from 127.0.0.2: POST_NOT_FOUND",
            ]
        )
    }
}

/// A buffer before a receiver that takes nothing for a while.
@Suite(.timeLimit(.minutes(1))) struct OutputThreadTests {
    /// What a receiver got, which takes the next texts when the test lets it.
    private final class Receiver: Sendable {
        let got = Locked<[String]>([])
        private let arrived = Semaphore()
        private let permits = Semaphore()

        /// A buffer of ten bytes before the receiver.
        func output() -> OutputThread {
            OutputThread("test-output", byteLimit: 10) { [self] texts, leftOutCount in
                arrived.signal()
                permits.wait()
                got.withLock { got in
                    got += texts
                    if leftOutCount > 0 { got.append("(\(leftOutCount))") }
                }
            }
        }

        /// Waits until the receiver has texts that it has not taken yet.
        func awaitTexts() { arrived.wait() }

        /// Lets the receiver take texts so often.
        func take(_ count: Int) { for _ in 0..<count { permits.signal() } }
    }

    @Test("what does not fit is counted, and said where it is missing")
    func saysWhatIsMissing() {
        let receiver = Receiver()
        let output = receiver.output()
        output.write("first")
        receiver.awaitTexts()
        // Ten bytes fit while the receiver has the first text, and nothing after one that did not.
        #expect(output.append("12345"))
        #expect(output.append("678"))
        #expect(!output.append("900"))
        #expect(!output.append("x"))
        #expect(output.leftOutCount == 2)
        receiver.take(1)
        receiver.awaitTexts()
        // The buffer is empty again.
        #expect(output.append("1234567890"))
        receiver.take(2)
        #expect(output.flush(upTo: .seconds(30)))
        let expected = ["first", "12345", "678", "(2)", "1234567890"]
        #expect(receiver.got.withLock { $0 } == expected)
        #expect(output.leftOutCount == 2)
    }

    @Test("how long the receiver has been taking what it was passed")
    func saysHowLongTextsWait() {
        let receiver = Receiver()
        let output = receiver.output()
        #expect(output.waitingTime(at: .now) == .zero)
        output.write("first")
        receiver.awaitTexts()
        let soon = MonotonicInstant.now.advanced(by: .seconds(3))
        #expect(output.waitingTime(at: soon) >= .seconds(3))
        receiver.take(1)
        #expect(output.flush(upTo: .seconds(30)))
        #expect(output.waitingTime(at: soon) == .zero)
    }

    @Test("a flush ends at its limit where the receiver takes nothing")
    func flushesForSomeTimeOnly() {
        let receiver = Receiver()
        let output = receiver.output()
        #expect(output.flush(upTo: .zero))
        output.write("first")
        receiver.awaitTexts()
        #expect(!output.flush(upTo: .milliseconds(1)))
        receiver.take(1)
        #expect(output.flush(upTo: .seconds(30)))
        #expect(receiver.got.withLock { $0 } == ["first"])
    }

    @Test("texts of many threads arrive whole, or are counted")
    func losesNoTextUncounted() async {
        let got = Locked(0)
        let output = OutputThread("test-output", byteLimit: 64) { texts, leftOutCount in
            got.withLock { $0 += texts.count + leftOutCount }
        }
        await withTaskGroup { group in
            for _ in 0..<4 { group.addTask { for _ in 0..<1_000 { output.write("12345678") } } }
        }
        #expect(output.flush(upTo: .seconds(30)))
        #expect(got.withLock { $0 } == 4_000)
    }
}

/// The log lines that clients can cause, and their rate.
struct ServiceLogTests {
    @Test func clientNamesAreLoggedOnceASecond() {
        let lines = LoggedLines()
        let time = Locked<Int64>(5_000)
        let log = ServiceLog(lines.logger, unixMilliseconds: { time.withLock { $0 } })
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

final class LoggedLines: Sendable {
    private struct Handler: LogHandler {
        let lines: Locked<[String]>
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.withLock { $0.append("\(event.level): \(event.message)") }
        }
    }

    private let lines = Locked<[String]>([])

    var logger: Logger { Logger(label: "test", factory: { [lines] _ in Handler(lines: lines) }) }

    var all: [String] { lines.withLock { $0 } }
}
