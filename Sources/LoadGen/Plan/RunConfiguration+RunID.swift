extension RunConfiguration {
    /// The run id that `text` is, or nil: 1 to 64 letters, digits, `-` and `_`.
    package static func runID(_ text: String) -> String? {
        let isAllowed = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isAllowed && (1...64).contains(text.utf8.count) ? text : nil
    }

    /// A run id that no other run has.
    package static func randomRunID() -> String {
        let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
