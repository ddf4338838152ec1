package import FeedClient
internal import Foundation

/// What feedctl keeps of a person between two commands: who the device is, who has signed in, and where.
///
/// It is a folder that only its owner may read, with the files `client-id`, `session` and `service.json`.
package struct Profile {
    package let path: String

    /// A profile in a folder, which is made if it is missing.
    package init(path: String) throws(ProfileError) {
        self.path = path
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw ProfileError(path: path, reason: error.systemReason)
        }
    }

    /// The folder if the command line names none, by the XDG Base Directory Specification.
    static func defaultPath(_ environment: [String: String]) -> String {
        let configured = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let folder = configured ?? (environment["HOME"] ?? ".") + "/.config"
        return folder + "/feedctl"
    }

    /// The identity of this device, which is drawn with the first command.
    package func clientID() throws(ProfileError) -> ClientID {
        let file = path + "/client-id"
        if let id = try Self.clientID(in: file) { return id }
        let id = ClientID()
        do {
            // Not over the id that another command has drawn meanwhile.
            try Data("\(id)\n".utf8).write(to: URL(filePath: file), options: .withoutOverwriting)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        } catch {
            if let id = try Self.clientID(in: file) { return id }
            throw ProfileError(path: file, reason: error.systemReason)
        }
        return id
    }

    private static func clientID(in file: String) throws(ProfileError) -> ClientID? {
        let bytes: Data
        do {
            bytes = try Data(contentsOf: URL(filePath: file))
        } catch {
            // Votes and marks belong to the id, so none is drawn in place of one that is there.
            if error.isMissingFile { return nil }
            throw ProfileError(path: file, reason: error.systemReason)
        }
        let text = String(validating: bytes, as: UTF8.self) ?? ""
        guard let id = ClientID(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw ProfileError(
                path: file,
                reason: "it is not one line of \(2 * ClientID.byteCount) hexadecimal digits."
            )
        }
        return id
    }

    /// Reads where the person has signed in, and makes nothing; there are no settings if nobody has.
    package static func target(in folder: String) throws(ProfileError) -> TargetSettings {
        let file = targetFile(in: folder)
        do {
            return try JSONDecoder().decode(
                TargetSettings.self,
                from: Data(contentsOf: URL(filePath: file))
            )
        } catch is DecodingError {
            throw ProfileError(path: file, reason: "it does not say where a service is.")
        } catch {
            if error.isMissingFile { return TargetSettings() }
            throw ProfileError(path: file, reason: error.systemReason)
        }
    }

    /// Keeps where the person has signed in, for the commands to come.
    package func keep(_ target: TargetSettings) throws(ProfileError) {
        let file = Self.targetFile(in: path)
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try encoder.encode(target.withWholePaths).write(
                to: URL(filePath: file),
                options: .atomic
            )
        } catch {
            throw ProfileError(path: file, reason: error.systemReason)
        }
    }

    private static func targetFile(in folder: String) -> String { folder + "/service.json" }

    package func sessions() throws(ProfileError) -> FileSessionStore {
        let file = path + "/session"
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        guard attributes?[.type] as? FileAttributeType != .typeDirectory else {
            throw ProfileError(path: file, reason: "it is a folder, and a session is a file.")
        }
        return FileSessionStore(path: file) { Console.notify("feedctl: \($0)\n") }
    }
}

package struct ProfileError: Error, CustomStringConvertible {
    let path: String
    let reason: String

    package var description: String { "The profile \(path) cannot be used: \(reason)" }
}

extension Error {
    /// The system's error, if Foundation only says that an operation could not be completed.
    var systemCause: NSError {
        let cause = (self as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
        return (cause ?? self) as NSError
    }

    fileprivate var isMissingFile: Bool {
        let cause = systemCause
        return cause.domain == NSPOSIXErrorDomain && cause.code == Int(ENOENT)
    }

    /// The system's error as a sentence.
    var systemReason: String {
        let cause = systemCause
        let text = cause.localizedFailureReason ?? cause.localizedDescription
        return text.hasSuffix(".") ? text : text + "."
    }
}
