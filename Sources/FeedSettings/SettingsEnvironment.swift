/// The names of the variables that set flags.
struct SettingsEnvironment {
    /// The words before each name, as `feed` and `service`.
    let prefix: [String]

    /// What every variable of the program begins with.
    private var beginning: String { prefix.map { $0.uppercased() + "_" }.joined() }

    /// The variable of a flag: `FEED_SERVICE_DATA_DIR` for `data-dir`.
    func variable(_ flag: SettingFlag) -> String {
        beginning + String(flag.name.uppercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }

    /// Refuses a variable that begins as those of flags do, and is of none.
    func check(
        _ variables: some Collection<String>,
        _ flags: [SettingFlag]
    ) throws(SettingError) {
        let known = Set(flags.map(variable))
        let unknown = variables.filter { $0.hasPrefix(beginning) && !known.contains($0) }.min()
        guard let unknown else { return }
        let names = flags.filter { !$0.isHidden }.map(variable)
        throw SettingError(
            unknown,
            "unknown variable" + Suggestion.text(for: unknown, among: names, quote: "")
        )
    }
}
