import Foundation

extension Error {
    /// What the system said where Foundation says but that an operation could not be completed.
    var systemCause: NSError {
        let error = self as NSError
        return error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
    }

    /// That as a sentence.
    var systemReason: String {
        let text = systemCause.localizedDescription
        return text.hasSuffix(".") ? text : text + "."
    }
}
