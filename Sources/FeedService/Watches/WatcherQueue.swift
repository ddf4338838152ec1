/// A queue: members leave it in the order in which they came.
struct WatcherQueue<Member> {
    private var members: [Member] = []
    /// The place of the first member that has not left.
    private var head = 0

    /// Whether nobody waits.
    var isEmpty: Bool { head == members.count }

    /// Adds a member; O(1), amortised.
    mutating func append(_ member: Member) { members.append(member) }

    /// Takes the member that has waited longest; O(1), amortised.
    mutating func popFirst() -> Member? {
        guard head < members.count else { return nil }
        let member = members[head]
        head += 1
        if 2 * head >= members.count {
            members.removeFirst(head)
            head = 0
        }
        return member
    }
}
