/// The flags on a command line, with their values.
///
/// The command line was parsed before: what is wrong in it is not found here.
struct GivenFlags {
    /// The values of each flag that is given, by its name.
    let texts: [String: [String]]

    /// Looks for flags in the words behind the program's name; O(words).
    init(_ words: [String], _ flags: [SettingFlag]) {
        let byFlag = Dictionary(flags.map { ($0.flag, $0) }) { first, _ in first }
        var texts: [String: [String]] = [:]
        var rest = words[...]
        while let word = rest.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let flag = byFlag[String(parts[0])] else { continue }
            let text: String
            if flag.kind == .toggle {
                text = "true"
            } else if parts.count == 2 {
                text = String(parts[1])
            } else {
                // Also a word that begins with a dash: the parser takes it for the value.
                guard let next = rest.popFirst() else { continue }
                text = next
            }
            if flag.kind == .repeated {
                texts[flag.name, default: []].append(text)
            } else {
                texts[flag.name] = [text]
            }
        }
        self.texts = texts
    }
}
