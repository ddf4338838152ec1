import Glibc
import Synchronization

/// The logs of all event loops, and the cuts through them.
///
/// A cut is the bytes that all logs hold while the thread that takes it has locked all of them. So
/// no section is split by a cut, no effect is in a cut before one that it depends on, and all
/// revisions of a cut are below those of the next. `Sendable` because the logs are locked, and
/// takers of cuts take turns.
@safe
package final class EffectLogs: @unchecked Sendable {
    /// How many logs there are.
    package let count: Int
    private let blocks: UnsafeMutablePointer<LogBlock>
    private let cuts: UnsafeMutablePointer<CutState>
    /// The buffers that take turns with those of the logs; whoever takes a cut has them.
    private let spares: UnsafeMutablePointer<LogBuffer>
    private let taking = Mutex(())

    /// Makes empty logs.
    ///
    /// - Parameters:
    ///   - count: The event loops.
    ///   - firstCut: The number of the first cut, from 1.
    ///   - onFirstEffect: Called once for each cut, from the thread of the section that put the
    ///     first effect into it, after the section.
    package init(count: Int, firstCut: UInt64, onFirstEffect: @escaping @Sendable () -> Void) {
        precondition(count > 0 && firstCut > 0, "There is at least one log, and no cut 0.")
        self.count = count
        unsafe cuts = .allocate(capacity: 1)
        unsafe cuts.initialize(
            to: CutState(
                openCut: Atomic(firstCut),
                newestCut: Atomic(firstCut - 1),
                onFirstEffect: onFirstEffect
            )
        )
        unsafe blocks = .allocate(capacity: count)
        unsafe spares = .allocate(capacity: count)
        for loop in 0..<count {
            unsafe (blocks + loop).initialize(to: LogBlock(cuts))
            unsafe (spares + loop).initialize(to: LogBuffer())
        }
    }

    deinit {
        unsafe blocks.deinitialize(count: count)
        unsafe blocks.deallocate()
        unsafe spares.deinitialize(count: count)
        unsafe spares.deallocate()
        unsafe cuts.deinitialize(count: 1)
        unsafe cuts.deallocate()
    }

    /// The log of an event loop.
    package subscript(loop: Int) -> EffectLog {
        precondition(loop >= 0 && loop < count, "There is no log of loop \(loop).")
        return unsafe EffectLog(block: blocks + loop)
    }

    /// The newest cut that holds an effect; one below the first where none does.
    ///
    /// Loaded after a read or a write, it is not below the cut of anything that it saw or did.
    package var newestCut: UInt64 { unsafe cuts.pointee.newestCut.load(ordering: .relaxed) }

    /// The cut that effects go into now.
    package var openCut: UInt64 { unsafe cuts.pointee.openCut.load(ordering: .relaxed) }

    /// The bytes in all logs as of their last sections; O(logs).
    package var waitingByteCount: Int {
        (0..<count).reduce(0) { sum, loop in
            unsafe sum + blocks[loop].waitingByteCount.load(ordering: .relaxed)
        }
    }

    /// Takes the open cut, if any effect waits, into a body, whose old bytes go; O(bytes).
    ///
    /// The logs are locked for the swap of their buffers and no longer.
    package func takeCut(into body: inout [UInt8]) -> (cut: UInt64, effectCount: Int)? {
        body.removeAll(keepingCapacity: true)
        return taking.withLock { _ in
            var effectCount = 0
            for loop in 0..<count { unsafe blocks[loop].lock() }
            for loop in 0..<count {
                unsafe effectCount += blocks[loop].swapBuffer(for: &spares[loop])
            }
            let cut = openCut
            if effectCount > 0 {
                unsafe cuts.pointee.openCut.store(cut + 1, ordering: .relaxed)
            }
            for loop in (0..<count).reversed() { unsafe blocks[loop].unlock() }
            guard effectCount > 0 else { return nil }
            for loop in 0..<count { unsafe spares[loop].move(to: &body) }
            return (cut, effectCount)
        }
    }
}
