#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// One block of memory with a post's texts and the numbers that no order needs.
///
/// Layout: author, update time, comment count, edit revision, the six byte counts, then the texts,
/// title first. A plain address without an owner: `PostTable` frees it.
@safe
package struct ContentBlob: BitwiseCopyable {
    private static let headerByteCount = 46
    private static let shortFieldCount = 5

    private let base: UnsafeMutableRawPointer

    /// Copies the texts into a new block, to be freed by `free()`.
    package init(_ content: PostContent, updateTimeMilliseconds: Int64, editRevision: UInt64) {
        let textCount = content.text.utf8.count
        precondition(textCount <= RankingLimits.maximumTextByteCount, "A text is too long.")
        var byteCount = Self.headerByteCount + textCount
        for field in 0..<Self.shortFieldCount {
            let count = Self.shortField(field, content).utf8.count
            precondition(count <= RankingLimits.maximumFieldByteCount, "A field is too long.")
            byteCount += count
        }
        guard let block = unsafe malloc(byteCount) else {
            fatalError("No memory for a post of \(byteCount) bytes.")
        }
        unsafe base = block
        unsafe base.storeBytes(of: content.authorID, as: UInt64.self)
        unsafe base.storeBytes(of: updateTimeMilliseconds, toByteOffset: 8, as: Int64.self)
        unsafe base.storeBytes(of: content.commentCount, toByteOffset: 16, as: UInt64.self)
        unsafe base.storeBytes(of: editRevision, toByteOffset: 24, as: UInt64.self)
        unsafe base.storeBytes(of: UInt32(textCount), toByteOffset: 32, as: UInt32.self)
        var offset = Self.headerByteCount
        for field in 0..<Self.shortFieldCount {
            let text = Self.shortField(field, content)
            let count = UInt16(text.utf8.count)
            unsafe base.storeBytes(of: count, toByteOffset: 36 + 2 * field, as: UInt16.self)
            offset = copy(text, to: offset)
        }
        _ = copy(content.text, to: offset)
    }

    /// Gives the memory back; the blob is not to be used again.
    package func free() { unsafe Pages.free(base) }

    package var content: PostContent {
        var offset = Self.headerByteCount
        func next(_ count: Int) -> String {
            defer { offset += count }
            return unsafe String(
                decoding: UnsafeRawBufferPointer(start: base + offset, count: count),
                as: UTF8.self
            )
        }
        var content = PostContent(authorID: authorID, commentCount: commentCount)
        content.title = next(fieldCount(0))
        content.authorName = next(fieldCount(1))
        content.linkURL = next(fieldCount(2))
        content.thumbnailURL = next(fieldCount(3))
        content.imageURL = next(fieldCount(4))
        content.text = next(textCount)
        return content
    }

    package var textByteCount: Int {
        var count = textCount
        for field in 0..<5 { count += fieldCount(field) }
        return count
    }

    /// The first eight bytes of the title, most significant first, with zeros behind its end.
    package var titlePrefix: UInt64 {
        let count = min(fieldCount(0), 8)
        var prefix: UInt64 = 0
        for index in 0..<count {
            let byte = unsafe base.load(
                fromByteOffset: Self.headerByteCount + index,
                as: UInt8.self
            )
            prefix |= UInt64(byte) << UInt64(56 - 8 * index)
        }
        return prefix
    }

    /// The title, for as long as the post keeps it.
    var title: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: base + Self.headerByteCount, count: fieldCount(0))
    }

    var titleBytes: [UInt8] { unsafe Array(title) }

    func appendTitle(to titles: inout [UInt8]) { unsafe titles.append(contentsOf: title) }

    /// Whether a change of texts can change the order.
    static func titlesDiffer(_ left: ContentBlob, _ right: ContentBlob) -> Bool {
        unsafe compare(left.title, right.title) != 0
    }

    /// Below, equal to or above 0 as the left bytes come before, equal or come after the right.
    static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let count = min(left.count, right.count)
        if count > 0, let leftBase = left.baseAddress, let rightBase = right.baseAddress {
            let order = unsafe memcmp(leftBase, rightBase, count)
            if order != 0 { return Int(order) }
        }
        return left.count - right.count
    }

    /// Fills in what the blob knows of a row, and appends the texts.
    package func append(to texts: inout [UInt8], row: inout PostRow) {
        row.updateTimeMilliseconds = updateTimeMilliseconds
        row.commentCount = commentCount
        row.authorID = PostContent.user(ofAuthor: authorID)
        var offset = UInt32(texts.count)
        func next(_ count: Int) -> TextRange {
            defer { offset += UInt32(count) }
            return TextRange(offset: offset, count: UInt32(count))
        }
        row.title = next(fieldCount(0))
        row.authorName = next(fieldCount(1))
        row.linkURL = next(fieldCount(2))
        row.thumbnailURL = next(fieldCount(3))
        row.imageURL = next(fieldCount(4))
        row.text = next(textCount)
        unsafe texts.append(
            contentsOf: UnsafeRawBufferPointer(
                start: base + Self.headerByteCount,
                count: Int(offset) - texts.count
            )
        )
    }

    /// Unix time of the last edit.
    var updateTimeMilliseconds: Int64 { unsafe base.load(fromByteOffset: 8, as: Int64.self) }

    /// Who made the post, as `PostContent` has it.
    package var authorID: UInt64 { unsafe base.load(as: UInt64.self) }

    /// Takes the numbers and the texts into a hash: the whole block, eight bytes a word.
    ///
    /// The author comes last, and only where it is known: so the hash of a post without one is what it was
    /// before posts had authors.
    func add(to hash: inout StateHash) {
        let byteCount = Self.headerByteCount + textByteCount
        var offset = 8
        while offset + 8 <= byteCount {
            hash.add(unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < byteCount {
            rest = rest << 8 | UInt64(unsafe base.load(fromByteOffset: offset, as: UInt8.self))
            offset += 1
        }
        hash.add(rest)
        if authorID > 0 { hash.add(authorID) }
    }

    var commentCount: UInt64 { unsafe base.load(fromByteOffset: 16, as: UInt64.self) }

    /// The revision of the write that gave the post these texts.
    package var editRevision: UInt64 { unsafe base.load(fromByteOffset: 24, as: UInt64.self) }

    private var textCount: Int { Int(unsafe base.load(fromByteOffset: 32, as: UInt32.self)) }

    /// 0 title, 1 author, 2 link, 3 thumbnail, 4 image.
    private func fieldCount(_ field: Int) -> Int {
        Int(unsafe base.load(fromByteOffset: 36 + 2 * field, as: UInt16.self))
    }

    /// The texts with a count of 16 bits, in their order.
    private static func shortField(_ number: Int, _ content: PostContent) -> String {
        switch number {
        case 0: content.title
        case 1: content.authorName
        case 2: content.linkURL
        case 3: content.thumbnailURL
        default: content.imageURL
        }
    }

    private func copy(_ text: String, to offset: Int) -> Int {
        var text = text
        return text.withUTF8 { bytes in
            if let source = bytes.baseAddress {
                unsafe (base + offset).copyMemory(from: source, byteCount: bytes.count)
            }
            return offset + bytes.count
        }
    }
}
