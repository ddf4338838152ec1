internal import ArgumentParser

/// How long a call of a command may take.
struct TimeoutOption: ParsableArguments {
    private static let defaultSeconds = 5.0

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How long a call may take. (default: \(Int(defaultSeconds)))",
            valueName: "seconds"
        )
    )
    var timeout: Double?

    func validate() throws {
        guard let timeout else { return }
        guard (0.001...86_400).contains(timeout) else {
            throw ValidationError("--timeout: expected 0.001 to 86400 seconds, got \(timeout).")
        }
    }

    /// The time that the command line says, or else `seconds`; nil is the default of most commands.
    func duration(default seconds: Double? = nil) -> Duration {
        .milliseconds(Int64((timeout ?? seconds ?? Self.defaultSeconds) * 1_000))
    }
}
