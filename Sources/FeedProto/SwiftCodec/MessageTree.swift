/// A frame's message and all messages in it, for the codec in Swift: what protobuf-c's structs are for the
/// other one.
///
/// It is filled as protobuf-c fills them, in the same two passes over each message. So both refuse the same
/// bytes, and make the same of fields that come twice:
///
/// - The last number, text or member of a oneof stands.
/// - The elements of a repeated field add up, packed or not.
/// - A message that comes again is the last one, with the texts, the messages and the elements that it lacks
///   or adds to from those before. Their numbers and unknown fields are gone.
///
/// A message is a node: words in one array. The first one has its unknown fields, the second one the number
/// of its oneof's member, and one follows for each field. That has a number; or a text's or a list's place
/// and count; or the node of a message, of which none is 0, the frame's.
struct MessageTree: ~Copyable {
    private var bytes: [UInt8] = []
    private var words: [UInt64] = []
    private var memory: MemoryCount

    /// The node of the frame.
    static var root: Int { 0 }
    private static var headWordCount: Int { 2 }
    /// The memory that is kept between two frames.
    private static var retainedByteCount: Int { 64 << 10 }

    /// An empty tree, whose messages take no more memory in protobuf-c's structs than a limit.
    init(limitByteCount: Int) { memory = MemoryCount(limitByteCount: limitByteCount) }

    /// Bytes held.
    var reservedByteCount: Int { bytes.capacity + words.capacity * MemoryLayout<UInt64>.stride }

    /// Reads a frame's message into an empty tree.
    mutating func read(
        _ shape: any MessageShape.Type,
        in body: RawSpan
    ) throws(MessageError) {
        precondition(body.byteCount <= Int(UInt32.max), "A frame's length fits into its header.")
        bytes.reserveCapacity(body.byteCount)
        bytes.append(copying: body)
        _ = try add(shape, bytes.indices)
    }

    /// Empties the tree, and keeps little of its memory.
    mutating func reset() {
        let keepsMemory = reservedByteCount <= Self.retainedByteCount
        bytes.removeAll(keepingCapacity: keepsMemory)
        words.removeAll(keepingCapacity: keepsMemory)
        memory.reset()
    }

    /// Overwrites what was read.
    mutating func overwrite() {
        for index in bytes.indices { bytes[index] = 0 }
        for index in words.indices { words[index] = 0 }
    }
}

// Reads the wire.
extension MessageTree {
    /// A field as it lies in the frame.
    private struct Field {
        let number: UInt32
        let wireType: UInt64
        /// Behind the tag.
        let start: Int
        /// Behind the length, if it has one.
        let content: Range<Int>

        var whole: Range<Int> { start..<content.upperBound }
        var hasLength: Bool { wireType == 2 }
    }

    private var malformed: MessageError { .malformed(byteCount: bytes.count) }

    /// Takes the number at an offset; nil if it does not end before `end` or within so many bytes.
    ///
    /// Bits above the 64th are dropped.
    @inline(__always)
    private func varint(at offset: inout Int, before end: Int, most byteCount: Int) -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        let last = min(end, offset + byteCount)
        while offset < last {
            let byte = bytes[offset]
            offset += 1
            value |= UInt64(byte & 0x7F) &<< shift
            if byte < 0x80 { return value }
            shift += 7
        }
        return nil
    }

    private func takeField(
        at offset: inout Int,
        before end: Int
    ) throws(MessageError) -> Field {
        // A tag of one byte with the number 0 ends a message in no encoding; `rejectFieldZero` finds
        // longer ones.
        guard bytes[offset] > 7, let tag = varint(at: &offset, before: end, most: 5) else {
            throw malformed
        }
        let start = offset
        switch tag & 7 {
        case 0 where varint(at: &offset, before: end, most: 10) != nil: break
        case 1 where end - start >= 8: offset += 8
        case 5 where end - start >= 4: offset += 4
        case 2:
            guard let length = varint(at: &offset, before: end, most: 5), length <= Int32.max,
                Int(length) <= end - offset
            else { throw malformed }
            let content = offset..<offset + Int(length)
            offset = content.upperBound
            return Field(number: UInt32(tag >> 3), wireType: 2, start: start, content: content)
        default: throw malformed
        }
        return Field(
            number: UInt32(tag >> 3),
            wireType: tag & 7,
            start: start,
            content: start..<offset
        )
    }

    /// The word of a field that comes alone.
    private mutating func word(
        of field: Field,
        _ kind: FieldShape.Kind
    ) throws(MessageError) -> UInt64 {
        var offset = field.start
        switch (kind, field.wireType) {
        // protobuf-c takes a bool of any type on the wire, and all of its bytes count.
        case (.bool, _):
            return bytes[field.whole].contains { $0 & 0x7F != 0 } ? 1 : 0
        case (.uint32, 0), (.int32, 0), (.uint64, 0):
            guard let value = varint(at: &offset, before: field.content.upperBound, most: 10) else {
                throw malformed
            }
            return kind.narrowed(value)
        case (.fixed64, 1):
            return field.content.reversed().reduce(0) { $0 << 8 | UInt64(bytes[$1]) }
        case (.bytes, 2):
            guard !field.content.isEmpty else { return 0 }
            try memory.take(field.content.count)
            return Extent(field.content).word
        case (.message(let shape), 2):
            return try UInt64(add(shape, field.content))
        default: throw malformed
        }
    }
}

// Fills nodes.
extension MessageTree {
    private func place(_ node: Int, _ index: Int) -> Int { node + Self.headWordCount + index }

    private mutating func addWords(_ count: Int) -> Int {
        words.append(contentsOf: repeatElement(0, count: count))
        return words.count - count
    }

    /// Adds the message in a range, and the messages in it; returns its node.
    private mutating func add(
        _ shape: any MessageShape.Type,
        _ range: Range<Int>
    ) throws(MessageError) -> Int {
        try memory.take(shape.structByteCount)
        let node = addWords(Self.headWordCount + shape.fieldCount)
        try makeRoom(for: range, node, shape)
        var offset = range.lowerBound
        var next = 0
        while offset < range.upperBound {
            let field = try takeField(at: &offset, before: range.upperBound)
            if let index = shape.index(of: field.number, after: &next) {
                try add(field, to: node, index, shape.field(index))
            } else {
                try memory.take(field.whole.count)
                append(UInt64(field.number) << 3 | field.wireType, toListAt: node)
                append(Extent(field.whole).word, toListAt: node)
            }
        }
        return node
    }

    /// The first pass: finds where each field ends, and adds the lists that the second one fills.
    private mutating func makeRoom(
        for range: Range<Int>,
        _ node: Int,
        _ shape: any MessageShape.Type
    ) throws(MessageError) {
        var scanned = ScannedMembers()
        var unknownCount = 0
        var hasLists = false
        var offset = range.lowerBound
        var next = 0
        while offset < range.upperBound {
            let field = try takeField(at: &offset, before: range.upperBound)
            try scanned.add(to: &memory)
            guard let index = shape.index(of: field.number, after: &next) else {
                unknownCount += 1
                continue
            }
            let found = shape.field(index)
            guard found.label == .repeated else { continue }
            hasLists = true
            // Until the list is there, its word has how many elements it will have.
            words[place(node, index)] += UInt64(
                field.hasLength && !found.kind.isMessage
                    ? bytes[field.content].count { $0 < 0x80 } : 1
            )
        }
        if hasLists {
            for index in 0..<shape.fieldCount where shape.field(index).label == .repeated {
                let count = Int(words[place(node, index)])
                guard count > 0 else { continue }
                try memory.take(count * shape.field(index).kind.elementByteCount)
                words[place(node, index)] = Extent(start: addWords(count), count: 0).word
            }
        }
        guard unknownCount > 0 else { return }
        try memory.take(unknownCount * MemoryCount.unknownFieldByteCount)
        words[node] = Extent(start: addWords(2 * unknownCount), count: 0).word
    }

    /// Adds to a list that has room.
    private mutating func append(_ word: UInt64, toListAt place: Int) {
        let list = Extent(word: words[place])
        words[list.range.upperBound] = word
        words[place] = Extent(start: list.start, count: list.count + 1).word
    }

    private mutating func add(
        _ field: Field,
        to node: Int,
        _ index: Int,
        _ shape: FieldShape
    ) throws(MessageError) {
        let place = place(node, index)
        switch shape.label {
        case .repeated where field.hasLength && !shape.kind.isMessage:
            var offset = field.content.lowerBound
            while offset < field.content.upperBound {
                guard let value = varint(at: &offset, before: field.content.upperBound, most: 10)
                else { throw malformed }
                append(shape.kind.narrowed(value), toListAt: place)
            }
        case .repeated:
            try append(word(of: field, shape.kind), toListAt: place)
        case .member:
            words[place] = try word(of: field, shape.kind)
            words[node + 1] = UInt64(shape.number)
        case .single:
            let earlier = words[place]
            let word = try word(of: field, shape.kind)
            if case .message(let message) = shape.kind, earlier != 0 {
                try merge(Int(earlier), into: Int(word), message)
            }
            words[place] = word
        }
    }

    /// Adds to a message what one before it has had in the same field.
    private mutating func merge(
        _ earlier: Int,
        into node: Int,
        _ shape: any MessageShape.Type
    ) throws(MessageError) {
        for index in 0..<shape.fieldCount {
            let field = shape.field(index)
            let first = words[place(earlier, index)]
            let last = words[place(node, index)]
            switch (field.label, field.kind) {
            case _ where first == 0: continue
            case (.repeated, _) where last != 0:
                try words[place(node, index)] = joined(first, last, field.kind).word
            case (.single, .message(let message)) where last != 0:
                try merge(Int(first), into: Int(last), message)
            case (.repeated, _), (.single, .message), (.single, .bytes):
                if last == 0 { words[place(node, index)] = first }
            // The generator refuses a oneof in a message that can come again.
            default: continue
            }
        }
    }

    /// A list of the elements of two.
    private mutating func joined(
        _ first: UInt64,
        _ last: UInt64,
        _ kind: FieldShape.Kind
    ) throws(MessageError) -> Extent {
        let (first, last) = (Extent(word: first), Extent(word: last))
        let count = first.count + last.count
        try memory.take(count * kind.elementByteCount)
        let start = addWords(count)
        for index in 0..<first.count { words[start + index] = words[first.start + index] }
        for index in 0..<last.count {
            words[start + first.count + index] = words[last.start + index]
        }
        return Extent(start: start, count: count)
    }
}

// Reads nodes. Fields are named by their place in the order of the numbers, and for errors by their name.
extension MessageTree {
    func number<Number: FixedWidthInteger>(_ node: Int, _ index: Int) -> Number {
        Number(truncatingIfNeeded: words[place(node, index)])
    }

    func number<ID: Identifier>(_ node: Int, _ index: Int) -> ID {
        ID(rawValue: words[place(node, index)])
    }

    func flag(_ node: Int, _ index: Int) -> Bool { words[place(node, index)] != 0 }

    func value<Value: WireEnum>(_ node: Int, _ index: Int) -> Value {
        Value(rawValue: number(node, index))
    }

    func bytes(_ node: Int, _ index: Int) -> [UInt8] { Array(bytes[extent(node, index).range]) }

    func text(
        _ node: Int,
        _ index: Int,
        _ field: StaticString
    ) throws(MessageError) -> String {
        let range = extent(node, index).range
        guard !range.isEmpty else { return "" }
        guard !bytes[range].contains(0), let text = String(validating: bytes[range], as: UTF8.self)
        else { throw .badText(id: frameID, field: "\(field)") }
        return text
    }

    /// A text that is kept secret, which is checked as each text is.
    func secret(
        _ node: Int,
        _ index: Int,
        _ field: StaticString
    ) throws(MessageError) -> SecretText {
        let secret = bytes(node, index)
        guard !secret.contains(0), secret.isUTF8 else {
            throw .badText(id: frameID, field: "\(field)")
        }
        return SecretText(validated: secret)
    }

    func numbers<Number: FixedWidthInteger>(_ node: Int, _ index: Int) -> [Number] {
        words[extent(node, index).range].map { Number(truncatingIfNeeded: $0) }
    }

    func numbers<ID: Identifier>(_ node: Int, _ index: Int) -> [ID] {
        words[extent(node, index).range].map(ID.init(rawValue:))
    }

    func values<Value: WireEnum>(_ node: Int, _ index: Int) -> [Value] {
        words[extent(node, index).range].map { Value(rawValue: Int32(truncatingIfNeeded: $0)) }
    }

    func message<Message: SwiftMessage>(
        _ node: Int,
        _ index: Int,
        _ field: StaticString
    ) throws(MessageError) -> Message? {
        let child = child(node, index)
        guard child != 0 else { return nil }
        return try message(child) { "\(field)" }
    }

    func messages<Message: SwiftMessage>(
        _ node: Int,
        _ index: Int,
        _ field: StaticString
    ) throws(MessageError) -> [Message] {
        let list = extent(node, index)
        var result: [Message] = []
        result.reserveCapacity(list.count)
        for element in 0..<list.count {
            let child = Int(words[list.start + element])
            try result.append(message(child) { "\(field)[\(element)]" })
        }
        return result
    }

    /// The message of a frame's body, whose fields are named without their path.
    func body<Message: SwiftMessage>(
        _ node: Int,
        _ index: Int
    ) throws(MessageError) -> Message {
        try rejectFieldZero(child(node, index))
        return try Message(child(node, index), in: self)
    }

    /// The number of the member of a message's oneof; 0 where there is none.
    func member(_ node: Int) -> UInt32 { UInt32(words[node + 1]) }

    func child(_ node: Int, _ index: Int) -> Int { Int(words[place(node, index)]) }

    /// Rejects a message with a field of number 0, which is no valid protobuf.
    func rejectFieldZero(_ node: Int) throws(MessageError) {
        let unknown = Extent(word: words[node])
        for place in stride(from: unknown.start, to: unknown.range.upperBound, by: 2)
        where words[place] >> 3 == 0 { throw malformed }
    }

    /// The frame's id, its first field.
    private var frameID: UInt64 { words[place(0, 0)] }

    private func extent(_ node: Int, _ index: Int) -> Extent {
        Extent(word: words[place(node, index)])
    }

    private func message<Message: SwiftMessage>(
        _ node: Int,
        at path: () -> String
    ) throws(MessageError) -> Message {
        try rejectFieldZero(node)
        do {
            return try Message(node, in: self)
        } catch .badText(let id, let field) {
            throw .badText(id: id, field: "\(path()).\(field)")
        }
    }
}

// Writes nodes again, in the form of every encoder.
extension MessageTree {
    /// Writes the fields of the message in a frame's oneof, if that has one.
    func writeMember(of frame: any MessageShape.Type, to writer: inout MessageWriter) {
        guard let index = frame.index(of: member(Self.root)),
            case .message(let shape) = frame.field(index).kind
        else { return }
        write(child(Self.root, index), shape, to: &writer)
    }

    /// Writes the fields of a message, and its unknown ones last.
    private func write(
        _ node: Int,
        _ shape: any MessageShape.Type,
        to writer: inout MessageWriter
    ) {
        for index in 0..<shape.fieldCount {
            let field = shape.field(index)
            let word = words[place(node, index)]
            switch (field.label, field.kind) {
            case (.member, _) where member(node) != field.number: continue
            case (.single, _) where word == 0, (.repeated, _) where word == 0: continue
            case (.repeated, .message(let message)):
                for child in words[Extent(word: word).range] {
                    write(child, field.number, message, to: &writer)
                }
            case (.repeated, _):
                writer.numbers(field.number, words[Extent(word: word).range])
            case (_, .message(let message)): write(word, field.number, message, to: &writer)
            case (_, .bytes): writer.member(field.number, bytes[Extent(word: word).range])
            case (_, .fixed64): writer.fixed64(field.number, word)
            case (_, .uint32), (_, .int32), (_, .uint64), (_, .bool):
                writer.member(field.number, word)
            }
        }
        let unknown = Extent(word: words[node])
        for place in stride(from: unknown.start, to: unknown.range.upperBound, by: 2) {
            writer.unknown(tag: words[place], bytes[Extent(word: words[place + 1]).range])
        }
    }

    private func write(
        _ child: UInt64,
        _ number: UInt32,
        _ shape: any MessageShape.Type,
        to writer: inout MessageWriter
    ) {
        let start = writer.begin(number)
        write(Int(child), shape, to: &writer)
        writer.end(at: start)
    }
}

/// A place and a count in one word: where bytes lie in the frame, or words in the tree.
private struct Extent {
    let start: Int
    let count: Int

    init(start: Int, count: Int) {
        self.start = start
        self.count = count
    }

    init(_ range: Range<Int>) { self.init(start: range.lowerBound, count: range.count) }

    init(word: UInt64) { self.init(start: Int(word >> 32), count: Int(word & 0xFFFF_FFFF)) }

    var word: UInt64 { UInt64(start) << 32 | UInt64(count) }
    var range: Range<Int> { start..<start + count }
}

extension FieldShape.Kind {
    fileprivate var isMessage: Bool {
        if case .message = self { true } else { false }
    }

    /// The bytes of an element of a list in protobuf-c's memory.
    fileprivate var elementByteCount: Int {
        switch self {
        case .uint32, .int32, .bool: 4
        case .uint64, .fixed64, .bytes, .message: 8
        }
    }

    /// The number that a field of this kind keeps of one on the wire.
    fileprivate func narrowed(_ value: UInt64) -> UInt64 {
        switch self {
        case .uint32: value & 0xFFFF_FFFF
        case .int32: UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: value)))
        case .uint64, .bool, .fixed64, .bytes, .message: value
        }
    }
}

extension MessageShape {
    /// The place of the field with a number, which is likely the next one or the same as before.
    fileprivate static func index(of number: UInt32, after next: inout Int) -> Int? {
        for likely in next..<min(next + 2, fieldCount) where field(likely).number == number {
            next = likely
            return likely
        }
        guard let index = index(of: number) else { return nil }
        next = index
        return index
    }
}

extension [UInt8] {
    /// Whether the bytes are UTF-8, without a text made of them, which nobody could overwrite.
    fileprivate var isUTF8: Bool {
        var (bytes, decoder) = (makeIterator(), UTF8())
        while true {
            switch decoder.decode(&bytes) {
            case .scalarValue: continue
            case .emptyInput: return true
            case .error: return false
            }
        }
    }
}
