extension Character {
    /// The columns that a terminal gives to the character: 0, 1 or 2.
    ///
    /// Characters of UAX #11's classes W and F and emoji in colour are wide.
    package var columnCount: Int {
        if isASCII { return 1 }
        let scalars = unicodeScalars
        guard let first = scalars.first else { return 0 }
        if scalars.contains(where: { $0.isWide }) { return 2 }
        // Variation selector 16 turns a character that is text by itself into a picture.
        if first.properties.isEmoji, scalars.contains("\u{FE0F}") { return 2 }
        return scalars.allSatisfy { $0.isZeroWidth } ? 0 : 1
    }
}

extension String {
    /// The columns that a terminal gives to the text, which holds no control characters.
    package var columnCount: Int { reduce(0) { $0 + $1.columnCount } }

    /// The text cut to a number of columns, with an ellipsis in the last one where something is
    /// missing.
    package func truncated(toColumns limit: Int) -> String {
        guard columnCount > limit else { return self }
        guard limit > 0 else { return "" }
        var kept = ""
        var room = limit - 1
        for character in self {
            room -= character.columnCount
            guard room >= 0 else { break }
            kept.append(character)
        }
        return kept + "…"
    }
}

extension Unicode.Scalar {
    fileprivate var isWide: Bool {
        if properties.isEmojiPresentation { return true }
        return Self.wideRanges.contains { $0.contains(value) }
    }

    fileprivate var isZeroWidth: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: true
        default: false
        }
    }

    /// Classes W and F of EastAsianWidth.txt without emoji; neighbours are joined over gaps.
    private static let wideRanges: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF,
        0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6B,
        0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18D08, 0x1AFF0...0x1B2FB, 0x1F200...0x1F265,
        0x20000...0x2FFFD, 0x30000...0x3FFFD,
    ]
}
