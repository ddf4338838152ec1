package import Foundation

/// Where the programs under test and the files of the project are.
package enum Programs {
    package static var feedService: URL { built("feed-service") }

    /// The load generator as it was built beside the tests.
    package static var loadGenerator: URL { built("loadgen") }

    /// The command line as it was built beside the tests.
    package static var feedCtl: URL { built("feedctl") }

    package static var projectFolder: URL {
        URL(filePath: #filePath)
            .deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent()
    }

    package static func command(_ name: String) -> URL? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":")
            .map { URL(filePath: String($0)).appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path()) }
    }

    private static func built(_ name: String) -> URL {
        // The test bundle stands in the folder of the products.
        URL(filePath: CommandLine.arguments[0])
            .resolvingSymlinksInPath()
            .deletingLastPathComponent()
            .appending(path: name)
    }
}
