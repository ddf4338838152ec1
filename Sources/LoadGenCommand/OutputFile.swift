import Foundation

/// The file that a flag names for a report, or standard output where the path is `-` or `/dev/stdout`.
///
/// A report is written into the file that is there: a symbolic link is followed, a file keeps its mode,
/// and a device stays one.
package struct OutputFile: Sendable {
    /// The flag that names it.
    let flag: String
    /// Its path as given.
    let path: String

    /// The file at `path`, which `flag` names.
    package init(flag: String, path: String) {
        self.flag = flag
        self.path = path
    }

    /// Whether it is standard output.
    // Opened by its path, a redirected output would lose what it has.
    var isStandardOutput: Bool { path == "-" || path == "/dev/stdout" }

    /// What two paths to one file have in common; nil for a pipe or a device, which several may write.
    package var place: String? {
        let target = (isStandardOutput ? URL(filePath: "/dev/stdout") : url)
            .resolvingSymlinksInPath()
        let path = target.path(percentEncoded: false)
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        if attributes?[.type] as? FileAttributeType == .typeRegular,
            let device = attributes?[.systemNumber], let number = attributes?[.systemFileNumber]
        {
            return "\(device):\(number)"
        }
        if isStandardOutput { return "-" }
        return attributes == nil ? path : nil
    }

    /// Checks before a run that the file can be written; the report of an earlier run stays in it.
    package func check() throws(FlagError) {
        guard !isStandardOutput else { return }
        do {
            if FileManager.default.fileExists(atPath: path) {
                // To open a pipe would wait for its reader.
                guard let type, Self.typesToOpen.contains(type) else { return }
                try FileHandle(forWritingTo: url).close()
            } else {
                try create()
                try FileManager.default.removeItem(at: url.resolvingSymlinksInPath())
            }
        } catch {
            throw FlagError(
                flag: flag,
                expected: "a file that can be written",
                actual: path.isEmpty ? "nothing" : "\(path) (\(error.systemReason))"
            )
        }
    }

    /// Writes a text in place of what the file has.
    package func write(_ text: String) throws(OutputError) {
        do {
            let bytes = Data(text.utf8)
            guard !isStandardOutput else {
                // A program reads this output and must learn that something is missing.
                return try FileHandle.standardOutput.write(contentsOf: bytes)
            }
            if !FileManager.default.fileExists(atPath: path) { try create() }
            let file = try FileHandle(forWritingTo: url)
            if type == .typeRegular { try file.truncate(atOffset: 0) }
            try file.write(contentsOf: bytes)
            try file.close()
        } catch {
            let name = isStandardOutput ? "standard output" : path
            throw OutputError("\(flag): \(name) could not be written: \(error.systemReason).")
        }
    }

    private static let typesToOpen: [FileAttributeType] = [
        .typeRegular, .typeDirectory, .typeCharacterSpecial, .typeBlockSpecial,
    ]

    private var url: URL { URL(filePath: path) }

    /// What the path leads to; nil where that has no path of its own, as a pipe at `/dev/stdout`.
    private var type: FileAttributeType? {
        let target = url.resolvingSymlinksInPath().path(percentEncoded: false)
        let attributes = try? FileManager.default.attributesOfItem(atPath: target)
        return attributes?[.type] as? FileAttributeType
    }

    /// Makes the file, also where a symbolic link leads to none.
    private func create() throws { try Data().write(to: url) }
}

/// Output could not be written.
package struct OutputError: Error, Equatable, CustomStringConvertible {
    /// A sentence, or one for each output.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
