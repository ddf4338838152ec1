internal import ArgumentParser

/// `feed-service config`: prints what stands, and where each value comes from.
///
/// The flags behind it are those of the service, which ``FeedServiceCommand`` parses and checks.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Checks the settings, and prints what stands and where each value comes from.",
        usage: "feed-service config [--config <file>] [<options of feed-service> ...]",
        discussion: """
            Give it the options of the service, which feed-service --help lists: feed-service config \
            --config feed-service.yaml --threads 2. It reads the same environment \
            (FEED_SERVICE_THREADS) and file as a start with these options, refuses what a start would \
            refuse of them, and starts nothing. What it prints may be a file for --config. Secrets are \
            in files, of which it prints the paths only.
            """
    )
}
