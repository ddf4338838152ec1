/// A window's queue in a side group, as a reference.
final class SideQueue {
    /// The window.
    let window: Window
    /// The posts in the window.
    var posts: WindowQueue
    /// The era of the clock in which the queue was made.
    let era: UInt64
    /// The queue has looked at the members below.
    private var filledLimit = 0

    /// A queue that has looked at no member.
    init(_ span: WindowSpan) {
        window = span.window
        posts = WindowQueue(start: span.start)
        era = span.era
    }

    /// The window as the queue has it.
    var span: WindowSpan {
        WindowSpan(window, endingAt: posts.start + window.milliseconds, era)
    }

    /// Notes a member that is new, or has another time; O(log n).
    ///
    /// A member that the queue has not come to is left to `fill`. The queue begins anew where most of
    /// its entries are of posts that are gone or have changed: nobody may read it for long.
    func noteChange(_ member: UInt32, _ createTimeMilliseconds: Int64) {
        if posts.isMostlySpent {
            posts = WindowQueue(start: posts.start)
            filledLimit = 0
        }
        if member == filledLimit { filledLimit += 1 }
        guard member < filledLimit else { return }
        posts.remove(member)
        posts.add(member, createTimeMilliseconds)
    }

    /// Looks at the members that it has not looked at, as many as a step allows; O(log n) each.
    func fill(
        _ members: borrowing SideMembers,
        _ step: inout SideStep,
        _ posts: borrowing PostTable
    ) {
        let count = step.take(members.limit - filledLimit)
        for member in UInt32(filledLimit)..<UInt32(filledLimit + count) {
            let slot = members.slot(member)
            guard posts.contains(slot) else { continue }
            self.posts.add(member, posts[slot].createTimeMilliseconds)
        }
        filledLimit += count
    }
}
