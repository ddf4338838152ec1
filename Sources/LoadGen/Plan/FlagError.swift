/// A flag with an invalid value: names the flag, what it takes and what it got.
package struct FlagError: Error, Equatable, CustomStringConvertible {
    /// The flag, with its dashes.
    package let flag: String
    /// What the flag takes.
    package let expected: String
    /// What was given.
    package let actual: String

    /// The one line that the program prints.
    package var description: String { "\(flag): expected \(expected), got \(actual)." }
}
