internal import Foundation

/// Tells one run of the operating system from another.
enum SystemBoot {
    /// The kernel's random name of this boot; empty where it gives none.
    static func id() -> String {
        let path = "/proc/sys/kernel/random/boot_id"
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return "" }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
