package import Foundation

/// Files of real posts with their real votes, which lie beside the project and are not part of it.
package enum RealPosts {
    /// The files of the folder that `FEED_DATASETS` names, else of `../shared/data/reddit`; none
    /// where there is no such folder.
    package static let files: [URL] = {
        let named = ProcessInfo.processInfo.environment["FEED_DATASETS"].map { URL(filePath: $0) }
        let folder =
            named
            ?? Programs.projectFolder.deletingLastPathComponent()
            .appending(path: "shared/data/reddit")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
        return names.filter { $0.hasSuffix(".csv") }.sorted().map { folder.appending(path: $0) }
    }()

    /// What a test says that is skipped for want of them.
    package static let absence =
        "no files of real posts: FEED_DATASETS names no folder of .csv files, and there are none "
        + "in ../shared/data/reddit"
}
