#if canImport(CFeedProto)
import CFeedProto

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The memory of one protobuf-c message at a time: allocated in sequence, and released at once.
///
/// Most messages fit into the first block, which is kept; such a message costs no allocation.
/// Others get further blocks until `reset()`, each at least twice the size of all before. The limit
/// is on the sum of the blocks: protobuf-c spends more than 16 times its bytes on an unknown field,
/// and a peer may send a frame full of those.
///
/// The technique is a `ProtobufCAllocator` over one buffer, whose `free` does nothing.
@safe struct MessageArena: ~Copyable {
    /// Holds a page of 100 posts.
    fileprivate static var firstBlockByteCount: Int { 64 << 10 }

    /// The state that the C callbacks see; it does not move.
    private let state: UnsafeMutablePointer<State>
    let allocator: UnsafeMutablePointer<ProtobufCAllocator>

    /// The greatest limit, below which no sum of block sizes can overflow.
    static var greatestLimitByteCount: Int { 1 << 40 }

    /// An arena that never holds more than a limit, and holds nothing until it is used.
    init(limitByteCount: Int) {
        precondition(limitByteCount <= Self.greatestLimitByteCount, "An arena holds up to 1 TiB.")
        unsafe state = .allocate(capacity: 1)
        unsafe state.initialize(to: State(limitByteCount: limitByteCount))
        unsafe allocator = .allocate(capacity: 1)
        unsafe allocator.initialize(
            to: ProtobufCAllocator(
                alloc: { data, byteCount in
                    unsafe data?.assumingMemoryBound(to: State.self).pointee.allocate(byteCount)
                },
                free: { _, _ in },
                allocator_data: state
            )
        )
    }

    deinit {
        unsafe state.pointee.freeOverflow()
        unsafe free(state.pointee.first)
        unsafe state.deallocate()
        unsafe allocator.deallocate()
    }

    var reservedByteCount: Int { unsafe state.pointee.reservedByteCount }

    /// The bytes that were allocated since the last reset, and a little more.
    var usedByteCount: Int { unsafe state.pointee.usedByteCount }

    /// Memory for values of a C type; nil over the limit or if there is no memory.
    func allocate<Value>(_ type: Value.Type, count: Int) -> UnsafeMutablePointer<Value>? {
        let (byteCount, overflow) = MemoryLayout<Value>.stride.multipliedReportingOverflow(
            by: count
        )
        guard !overflow else { return nil }
        return unsafe state.pointee.allocate(byteCount)?.bindMemory(to: type, capacity: count)
    }

    /// Why memory was refused since the last reset; nil if it was not.
    var refusal: Refusal? { unsafe state.pointee.refusal }

    /// Releases all allocations, and frees all blocks but the first.
    func reset() { unsafe state.pointee.reset() }

    /// Overwrites all blocks, also what was allocated in them before: nothing in them is used after.
    func overwrite() { unsafe state.pointee.overwrite() }

    enum Refusal {
        case limit
        case memory
    }
}

/// The blocks of an arena and a place in the newest; a block begins with a link to an older one and
/// with its own size.
@safe private struct State {
    private let limitByteCount: Int
    private(set) var reservedByteCount = 0
    private(set) var refusal: MessageArena.Refusal?
    /// The rest of the newest block.
    private var freeByteCount = 0
    private var next: UnsafeMutableRawPointer?
    /// The block that is kept.
    private(set) var first: UnsafeMutableRawPointer?
    private var firstByteCount = 0
    /// The newest of the other blocks.
    private var overflow: UnsafeMutableRawPointer?

    private static var linkByteCount: Int { 2 * MemoryLayout<UInt>.stride }

    init(limitByteCount: Int) { self.limitByteCount = limitByteCount }

    var usedByteCount: Int { reservedByteCount - freeByteCount }

    /// Memory aligned for every member that a message can have.
    @inline(__always)
    mutating func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer? {
        // Compared as unsigned numbers, because C counts bytes in those.
        guard UInt(bitPattern: byteCount) <= UInt(bitPattern: limitByteCount) else {
            refusal = .limit
            return nil
        }
        let alignedByteCount = (byteCount &+ 7) & ~7
        if alignedByteCount > freeByteCount {
            refusal = addBlock(for: alignedByteCount)
            if refusal != nil { return nil }
        }
        let memory = unsafe next
        unsafe next = next?.advanced(by: alignedByteCount)
        freeByteCount &-= alignedByteCount
        return unsafe memory
    }

    /// Frees all blocks but the first, and starts with that one again.
    @inline(__always)
    mutating func reset() {
        if unsafe overflow != nil { freeOverflow() }
        unsafe next = first?.advanced(by: Self.linkByteCount)
        freeByteCount = max(0, firstByteCount - Self.linkByteCount)
        refusal = nil
    }

    mutating func freeOverflow() {
        while let block = unsafe overflow {
            unsafe overflow = block.load(as: UnsafeMutableRawPointer?.self)
            unsafe free(block)
        }
        reservedByteCount = firstByteCount
    }

    /// Overwrites all blocks but their beginnings.
    @inline(never)
    func overwrite() {
        if let first = unsafe first { unsafe Self.overwrite(first) }
        var block = unsafe overflow
        while let current = unsafe block {
            unsafe block = current.load(as: UnsafeMutableRawPointer?.self)
            unsafe Self.overwrite(current)
        }
    }

    private static func overwrite(_ block: UnsafeMutableRawPointer) {
        let byteCount = unsafe block.load(fromByteOffset: sizeOffset, as: Int.self)
        _ = unsafe memset(block + linkByteCount, 0, byteCount - linkByteCount)
    }

    private static var sizeOffset: Int { MemoryLayout<UInt>.stride }

    @inline(never)
    private mutating func addBlock(for byteCount: Int) -> MessageArena.Refusal? {
        let needed = byteCount + Self.linkByteCount
        let available = limitByteCount - reservedByteCount
        guard needed <= available else { return .limit }
        let size = min(
            available,
            max(needed, 2 * reservedByteCount, MessageArena.firstBlockByteCount)
        )
        guard let block = unsafe malloc(size) else { return .memory }
        unsafe block.storeBytes(of: overflow, as: UnsafeMutableRawPointer?.self)
        unsafe block.storeBytes(of: size, toByteOffset: Self.sizeOffset, as: Int.self)
        if unsafe first == nil {
            unsafe first = block
            firstByteCount = size
        } else {
            unsafe overflow = block
        }
        reservedByteCount += size
        unsafe next = block + Self.linkByteCount
        freeByteCount = size - Self.linkByteCount
        return nil
    }
}

// Builds C messages from values. Each value is in memory already, as a Swift value of about the
// same size, so a failure to allocate traps as it does for any Swift array.
extension MessageArena {
    /// Memory for a number of values; traps if there is none.
    private func require<Value>(_ type: Value.Type, count: Int) -> UnsafeMutablePointer<Value> {
        guard let memory = unsafe allocate(type, count: count) else {
            fatalError("Out of memory for a message to encode.")
        }
        return unsafe memory
    }

    func text(_ text: String) -> ProtobufCBinaryData {
        guard !text.isEmpty else { return unsafe ProtobufCBinaryData() }
        var text = text
        return text.withUTF8 { utf8 in unsafe copy(utf8) }
    }

    func bytes(_ bytes: [UInt8]) -> ProtobufCBinaryData {
        guard !bytes.isEmpty else { return unsafe ProtobufCBinaryData() }
        return unsafe bytes.withUnsafeBufferPointer { bytes in unsafe copy(bytes) }
    }

    func message<Message: WireMessage>(
        _ value: Message?
    ) -> UnsafeMutablePointer<Message.CMessage>? {
        guard let value else { return nil }
        let message = unsafe require(Message.CMessage.self, count: 1)
        unsafe Message.initialize(message)
        unsafe value.write(to: message, self)
        return unsafe message
    }

    /// A submessage without fields.
    func empty<CMessage>(
        _ initialize: (UnsafeMutablePointer<CMessage>?) -> Void
    ) -> UnsafeMutablePointer<CMessage> {
        let message = unsafe require(CMessage.self, count: 1)
        unsafe initialize(message)
        return unsafe message
    }

    func messages<Message: WireMessage>(
        _ values: [Message]
    ) -> UnsafeMutablePointer<UnsafeMutablePointer<Message.CMessage>?>? {
        guard !values.isEmpty else { return nil }
        let messages = unsafe require(
            UnsafeMutablePointer<Message.CMessage>?.self,
            count: values.count
        )
        for (index, value) in values.enumerated() {
            unsafe (messages + index).initialize(to: message(value))
        }
        return unsafe messages
    }

    func numbers<Number: BitwiseCopyable>(_ values: [Number]) -> UnsafeMutablePointer<Number>? {
        guard !values.isEmpty else { return nil }
        let numbers = unsafe require(Number.self, count: values.count)
        unsafe values.withUnsafeBufferPointer { values in
            guard let base = values.baseAddress else { return }
            unsafe numbers.initialize(from: base, count: values.count)
        }
        return unsafe numbers
    }

    func numbers(_ ids: [some Identifier]) -> UnsafeMutablePointer<UInt64>? {
        guard !ids.isEmpty else { return nil }
        let numbers = unsafe require(UInt64.self, count: ids.count)
        for (index, id) in ids.enumerated() {
            unsafe (numbers + index).initialize(to: id.rawValue)
        }
        return unsafe numbers
    }

    private func copy(_ bytes: UnsafeBufferPointer<UInt8>) -> ProtobufCBinaryData {
        guard let base = bytes.baseAddress else { return unsafe ProtobufCBinaryData() }
        let copy = unsafe require(UInt8.self, count: bytes.count)
        unsafe copy.initialize(from: base, count: bytes.count)
        return unsafe ProtobufCBinaryData(len: bytes.count, data: copy)
    }
}
#endif
