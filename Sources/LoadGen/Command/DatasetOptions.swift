package import ArgumentParser

/// The flags of `loadgen dataset` as they are typed.
package struct DatasetOptions: ParsableCommand {
    /// How the help introduces the command.
    package static let configuration = CommandConfiguration(
        commandName: "loadgen dataset",
        abstract: "Imports files of posts, casts exactly the votes they record, and audits.",
        discussion: """
            Each file of comma-separated values fills a feed named after it, which must be empty or \
            is created. Its first line names the columns: title, and as far as there are any \
            author, selftext, url, thumbnail, created_utc, num_comments, ups and downs. The votes \
            of all posts are cast in one random order over all clients.
            """
    )

    /// No flag given.
    package init() {}

    /// The files.
    @Argument(help: "Files of posts, a feed each.")
    package var files: [String]
    /// What every load has.
    @OptionGroup package var load: LoadOptions
}
