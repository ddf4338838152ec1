package import ArgumentParser

/// The arguments after the program's name: the command that they name, and the arguments of that
/// command.
///
/// The commands share names of flags, so each parses its own arguments only. As subcommands of one
/// parser, the first would take the flags that it knows from the arguments of the second.
package struct CommandLineArguments {
    private let command: any ParsableCommand.Type
    private let arguments: [String]

    /// The arguments after the program's name.
    package init(_ arguments: [String]) {
        let isDataset = arguments.first == "dataset"
        command = isDataset ? DatasetOptions.self : Options.self
        self.arguments = Array(isDataset ? arguments.dropFirst() : arguments[...])
    }

    /// Parses the arguments as the flags of their command.
    package func options() throws -> any ParsableCommand {
        try command.parse(arguments)
    }

    /// The message for arguments that are no flags of their command, or that ask for its help.
    package func message(for error: any Error) -> String {
        command.fullMessage(for: error)
    }

    /// Whether an error of `options()` is a request for help.
    package func isHelp(_ error: any Error) -> Bool {
        command.exitCode(for: error) == .success
    }
}
