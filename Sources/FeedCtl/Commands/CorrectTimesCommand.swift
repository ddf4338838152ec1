internal import ArgumentParser
internal import FeedClient
internal import FeedProto

/// Finds and corrects posts with times from a wrong clock.
struct CorrectTimesCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "correct-times",
        abstract:
            "Lists posts more than five minutes ahead of the service's clock, or corrects them.",
        discussion: """
            A service that was started with a wrong clock has stamped posts with times that are to \
            come. Without --apply nothing is changed. Look at the clock of the service's machine \
            first: what lies ahead of it is taken for wrong.
            """
    )

    @Flag(help: "Correct them: each time that lies ahead becomes the service's time, or --time.")
    var apply = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The time to set, in milliseconds since 1970.", valueName: "ms")
    )
    var time: Int64?

    @OptionGroup var options: ServiceOptions

    func validate() throws {
        guard let time else { return }
        guard apply else { throw ValidationError("--time: it is for --apply only.") }
        guard time > 0 else { throw ValidationError("--time: expected more than 0, got \(time).") }
    }

    func perform(_ client: FeedClient) async throws -> any Report {
        var report = FoundPostsReport(isApplied: apply)
        var afterID: UInt64 = 0
        repeat {
            let request = CorrectTimesRequest(
                appliesCorrection: apply,
                timeMilliseconds: time ?? 0,
                afterID: afterID
            )
            let part = try await client.correctTimes(request)
            report.add(part)
            // A service whose next id does not advance would be asked without end.
            guard part.nextAfterID > afterID else { break }
            afterID = part.nextAfterID
        } while afterID > 0
        return report
    }
}
