package import FeedClient
internal import Foundation

/// What feedctl keeps of a person between two commands: who the device is, and who has signed in.
///
/// It is a folder that only its owner may read, with the files `client-id` and `session`.
package struct Profile {
    /// The folder.
    package let path: String

    /// A profile in a folder, which is made where it is missing.
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

    /// The folder where the command line names none, by the XDG Base Directory Specification.
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

    /// The id in a file; nil where there is no file.
    private static func clientID(in file: String) throws(ProfileError) -> ClientID? {
        let bytes: Data
        do {
            bytes = try Data(contentsOf: URL(filePath: file))
        } catch {
            let cause = error.systemCause
            // Votes and marks belong to the id, so none is drawn in place of one that is there.
            if cause.domain == NSPOSIXErrorDomain, cause.code == Int(ENOENT) { return nil }
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

    /// Where the session is.
    package func sessions() throws(ProfileError) -> FileSessionStore {
        let file = path + "/session"
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        guard attributes?[.type] as? FileAttributeType != .typeDirectory else {
            throw ProfileError(path: file, reason: "it is a folder, and a session is a file.")
        }
        return FileSessionStore(path: file) { Console.notify("feedctl: \($0)\n") }
    }
}

/// A profile cannot be read or written.
package struct ProfileError: Error, CustomStringConvertible {
    let path: String
    let reason: String

    /// The sentence that the program prints.
    package var description: String { "The profile \(path) cannot be used: \(reason)" }
}
