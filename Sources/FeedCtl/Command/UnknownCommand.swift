/// A first word that is no command.
package struct UnknownCommand: CustomStringConvertible {
    private let word: String
    private let names: [String]

    /// The word behind the program's name, or behind `help`; nil where it is a command or an option.
    package init?(_ words: some Collection<String>, among names: [String]) {
        let isHelp = words.first == "help"
        guard let word = isHelp ? words.dropFirst().first : words.first, !word.hasPrefix("-"),
            !names.contains(word), word != "help"
        else { return nil }
        self.word = word
        self.names = names
    }

    /// What was typed, what was meant, and where all commands are.
    package var description: String {
        let hint = Suggestion.text(for: word, among: names + ["help"])
        return "There is no command \"\(word)\"\(hint) feedctl help lists the commands."
    }
}
