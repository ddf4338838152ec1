internal import ArgumentParser
internal import Logging

struct LogFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The least level of the lines of the log: \(ServiceConfiguration.logLevels). SIGUSR1 "
                + "switches to debug and back.",
            valueName: "level"
        )
    )
    var logLevel = "info"

    @Option(
        help: ArgumentHelp("The form of the lines of the log: text or json.", valueName: "format")
    )
    var logFormat = LogFormat.text.rawValue

    @Option(
        help: ArgumentHelp(
            "Log a call whose answer leaves later than this after its arrival, as 100ms or 2s; "
                + "off logs none.",
            valueName: "time"
        )
    )
    var slowCall = "100ms"
}

extension ServiceConfiguration {
    /// The levels, for messages.
    static var logLevels: String {
        let names = Logger.Level.allCases.map(\.rawValue)
        return names.dropLast().joined(separator: ", ") + " or " + names.suffix(1).joined()
    }

    mutating func setLog(_ flags: LogFlags) throws(ServiceStartError) {
        guard let level = Logger.Level(rawValue: flags.logLevel) else {
            throw .badFlag("--log-level", "expected \(Self.logLevels), got \(flags.logLevel).")
        }
        guard let format = LogFormat(rawValue: flags.logFormat) else {
            throw .badFlag("--log-format", "expected text or json, got \(flags.logFormat).")
        }
        logThreshold = LogThreshold(level)
        logFormat = format
        limits.slowCallTime = try Self.slowCallTime(flags.slowCall)
    }

    private static func slowCallTime(_ text: String) throws(ServiceStartError) -> Duration? {
        if text == "off" { return nil }
        for (unit, milliseconds) in [("ms", 1), ("s", 1_000)] where text.hasSuffix(unit) {
            guard let count = Int(text.dropLast(unit.count)),
                (1...3_600_000 / milliseconds).contains(count)
            else { break }
            return .milliseconds(count * milliseconds)
        }
        throw .badFlag("--slow-call", "expected 1ms to 3600s, or off, got \(text).")
    }
}
