/// Where the value of a setting comes from.
package enum SettingOrigin: Sendable, Equatable {
    /// A flag on the command line.
    case commandLine
    /// A variable of the environment.
    case variable(String)
    /// A line of a file, which begins with 1.
    case file(String, line: Int)
    /// Nothing sets it.
    case unset

    /// The place in the words of a refusal, for a key of a file or a flag.
    func place(of flag: SettingFlag) -> String {
        switch self {
        case .commandLine, .unset: flag.flag
        case .variable(let name): name
        case .file(let path, let line): "\(path):\(line): \(flag.name)"
        }
    }
}
