import Foundation

extension Error {
    /// The system's error, where Foundation only says that an operation could not be completed.
    var systemCause: NSError {
        let cause = (self as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
        return (cause ?? self) as NSError
    }

    /// The system's reason in its own words, as `No space left on device`.
    var systemReason: String {
        let cause = systemCause
        return cause.localizedFailureReason ?? cause.localizedDescription
    }
}
