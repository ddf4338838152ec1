import FeedService
import FeedTestSupport
import FeedTransport
import Foundation
import Logging
import Testing

/// Which lines the log has, and in which form.
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

    private static func lines(
        _ threshold: LogThreshold,
        _ body: (Logger) -> Void
    ) -> [String] {
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
