package import ArgumentParser

/// The flags of `loadgen dataset` as typed.
package struct DatasetOptions: ParsableCommand {
    /// The command's introduction in the help.
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
    /// The flags of every load.
    @OptionGroup package var load: LoadOptions
}
