import Foundation

/// Where the output goes.
enum Console {
    /// Writes a text; a reader that went away is nobody's error.
    static func write(_ text: String, to file: FileHandle) {
        try? file.write(contentsOf: Data(text.utf8))
    }
}
