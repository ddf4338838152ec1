internal import ArgumentParser
internal import FeedSettings
internal import Foundation

extension FeedServiceCommand {
    /// Every flag of the service; each may be set by a file and a variable, too.
    private static var flags: [SettingFlag] { SettingFlag.list(ofDump: _dumpHelp()) }

    /// The flag that names the file of settings.
    private static let fileFlag = SettingFlag("config", .single)

    /// The settings of the command line, the environment and the file that one of them names.
    static func settings() throws(ServiceStartError) -> Settings {
        do throws(SettingError) {
            return try Settings(
                flags: flags,
                commandLine: Array(CommandLine.arguments.dropFirst()),
                environment: ProcessInfo.processInfo.environment,
                prefix: ["feed", "service"],
                fileFlag: fileFlag
            ) { arguments in
                do {
                    _ = try parse(arguments)
                    return nil
                } catch {
                    return message(for: error)
                }
            }
        } catch {
            throw .badFlag(error.place, error.problem)
        }
    }

    /// Serves with these settings; a refusal of a flag names what has set it.
    static func serve(_ settings: Settings) throws {
        let command = try parse(settings.arguments)
        try naming(settings) { try command.run() }
    }

    /// Checks these settings as a start does, and prints them.
    static func show(_ settings: Settings) throws {
        let command = try parse(settings.arguments)
        try naming(settings) {
            let configuration = try ServiceConfiguration(command)
            print(
                settings.report(
                    computed: configuration.computedSettings,
                    fileFlag: fileFlag.name
                )
            )
        }
    }

    private static func naming(_ settings: Settings, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch ServiceStartError.badFlag(let flag, let problem) {
            throw ServiceStartError.badFlag(settings.place(of: flag), problem)
        }
    }
}
