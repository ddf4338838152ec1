internal import ArgumentParser

/// The list that a person looks at, and how much of it.
struct ShownListOptions: ParsableArguments {
    @Argument(help: "The feed; without it, the front page over all feeds.")
    var feed = ""

    @OptionGroup var ordering: OrderOptions

    @Option(help: "How many posts are shown at once, 1 to 100.")
    var rows = 20

    func validate() throws {
        guard (1...100).contains(rows) else {
            throw ValidationError("--rows: expected 1 to 100, got \(rows).")
        }
    }
}
