/// The output of a command could not be written.
struct ConsoleError: Error, CustomStringConvertible {
    let reason: String

    var description: String { "The output could not be written: \(reason)" }
}
