import Foundation

extension Error {
    /// The system's error, where Foundation only says that an operation could not be completed.
    var systemCause: NSError {
        let error = self as NSError
        return error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
    }

    /// The system's error as a sentence.
    var systemReason: String {
        let text = systemCause.localizedDescription
        return text.hasSuffix(".") ? text : text + "."
    }
}
