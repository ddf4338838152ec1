extension Settings {
    /// The settings as a file that sets the same, with the origin of each value behind it.
    ///
    /// A flag of tests is there only where it is set.
    ///
    /// - Parameters:
    ///   - computed: What stands for flags that are not set, and whose default the program computes, by name.
    ///   - fileFlag: The flag that names the file; it stands in a comment, as a file cannot have it.
    /// - Returns: A line for each flag.
    package func report(computed: [String: String], fileFlag: String) -> String {
        let lines = all.compactMap { setting -> (text: String, origin: String)? in
            let isSet = setting.origin != .unset
            guard isSet || !setting.flag.isHidden else { return nil }
            let name = setting.flag.name
            let known = isSet ? nil : computed[name].map { [$0] }
            guard let value = Self.written(known ?? setting.texts, setting.flag.kind) else {
                return ("# \(name):", "not set")
            }
            let isComment = name == fileFlag
            return ("\(isComment ? "# " : "")\(name): \(value)", setting.originText)
        }
        let width = min(40, lines.map(\.text.count).max() ?? 0)
        return lines.map { line in
            let space = String(repeating: " ", count: max(0, width - line.text.count))
            return "\(line.text)\(space)  # \(line.origin)"
        }
        .joined(separator: "\n")
    }

    /// The values as YAML; nil for none.
    private static func written(_ texts: [String], _ kind: SettingFlag.Kind) -> String? {
        guard !texts.isEmpty else { return nil }
        guard kind == .repeated else { return texts.last.map(scalar) }
        return "[\(texts.map(scalar).joined(separator: ", "))]"
    }

    /// A text as it stands behind a key: in quotes unless it is made of letters, digits and few signs.
    private static func scalar(_ text: String) -> String {
        let isPlain = text.allSatisfy { letter in
            letter.isASCII && (letter.isLetter || letter.isNumber || "/._-".contains(letter))
        }
        guard isPlain, !text.isEmpty, !text.hasPrefix("-") else {
            return "'\(text.replacing("'", with: "''"))'"
        }
        return text
    }
}

extension Settings.Setting {
    /// Where the values come from, for people.
    fileprivate var originText: String {
        switch origin {
        case .commandLine: flag.flag
        case .variable(let name): name
        case .file(let path, let line): "\(path):\(line)"
        case .unset: "default"
        }
    }
}
