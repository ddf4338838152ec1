import LoadGenCommand
import Testing

@Suite struct HelpTests {
    /// A text over several lines of the source has a gap where a line lacks its backslash.
    @Test(arguments: [[], ["dataset"], ["report"]])
    func helpHasNoGaps(_ command: [String]) throws {
        let arguments = CommandLineArguments(command + ["--experimental-dump-help"])
        let error = #expect(throws: (any Error).self) { try arguments.options() }
        let text = arguments.message(for: try #require(error))
        let lines = text.split(separator: "\n").filter { $0.contains(#""abstract""#) }
        #expect(lines.count > 3 || command == ["report"])
        for line in lines + text.split(separator: "\n").filter({ $0.contains(#""discussion""#) }) {
            let value = line.drop { $0 == " " }
            #expect(!value.contains("  "), "\(value)")
        }
    }
}
