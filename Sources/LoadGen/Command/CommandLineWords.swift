package import ArgumentParser

/// What was typed behind the program's name: which command it is for, and that command's words.
///
/// The commands share names of flags, so each reads its own words alone: as the parser's subcommands,
/// the first would take the flags that it knows out of the words of the second.
package struct CommandLineWords {
    private let command: any ParsableCommand.Type
    private let words: [String]

    /// The words behind the program's name.
    package init(_ words: [String]) {
        let isDataset = words.first == "dataset"
        command = isDataset ? DatasetOptions.self : Options.self
        self.words = Array(isDataset ? words.dropFirst() : words[...])
    }

    /// Reads the words as the flags of their command.
    package func options() throws -> any ParsableCommand {
        try command.parse(words)
    }

    /// What to tell whoever typed words that are no flags of their command, or ask for its help.
    package func message(for error: any Error) -> String {
        command.fullMessage(for: error)
    }

    /// Whether an error of `options()` is but a wish for help.
    package func isHelp(_ error: any Error) -> Bool {
        command.exitCode(for: error) == .success
    }
}
