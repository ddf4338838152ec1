/// A setting that is refused: where it stands, and a sentence on what is wrong with it.
package struct SettingError: Error, Equatable, CustomStringConvertible {
    /// A line of a file, a variable or a flag.
    package let place: String
    /// What is wrong, with the value and what is expected.
    package let problem: String

    /// A refusal of what stands at a place.
    package init(_ place: String, _ problem: String) {
        self.place = place
        self.problem = problem
    }

    package var description: String { "\(place): \(problem)" }
}
