extension SettingsFile {
    /// The values of each key.
    var texts: [String: [String]] {
        Dictionary(entries.map { ($0.key, $0.texts) }) { first, _ in first }
    }

    /// The line of a flag; nil where the file does not have it.
    func origin(of flag: SettingFlag) -> SettingOrigin? {
        entries.first { $0.key == flag.name }.map { .file(path, line: $0.line) }
    }

    /// Refuses a key that is no flag, and a list where the flag takes one value.
    ///
    /// - Parameters:
    ///   - flags: The flags that a file may have.
    ///   - fileFlag: The flag that names the file, which a file cannot have.
    /// - Throws: The first wrong key.
    func check(_ flags: [SettingFlag], fileFlag: String) throws(SettingError) {
        for entry in entries {
            let place = "\(path):\(entry.line)"
            guard entry.key != fileFlag else {
                throw SettingError(place, "a file names no other file, as \"\(fileFlag)\" would.")
            }
            guard let flag = flags.first(where: { $0.name == entry.key }) else {
                let names = flags.filter { !$0.isHidden }.map(\.name)
                throw SettingError(
                    place,
                    "unknown key \"\(entry.key)\"" + Suggestion.text(for: entry.key, among: names)
                )
            }
            guard flag.kind == .repeated || !entry.isList else {
                throw SettingError("\(place): \(entry.key)", "expected one value, got a list.")
            }
        }
    }
}
