import Foundation

extension Error {
    /// The system's error, where Foundation only says that an operation could not be completed.
    var systemCause: NSError {
        let cause = (self as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
        return (cause ?? self) as NSError
    }

    /// Whether there is no such file.
    var isMissingFile: Bool {
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
