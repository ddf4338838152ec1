/// The marks through posts of one topic and one list: each reaches less far than the one below it.
///
/// A mark through a post ends all marks through that post or an earlier one, because it is newer
/// and covers all that they cover. So posts fall from step to step, and revisions rise. A restored
/// step may be older than the one below it: it has ended, and so have those above it.
struct MarkSteps: Sendable {
    /// The steps by place, with places that are yet to be restored.
    private var places: [MarkThrough?] = []
    /// The revision of the newest mark of the topic on a single post of the list, while there are
    /// steps; 0 is none.
    var newestOnPost: UInt64 = 0

    /// The steps that stand, from the one that reaches farthest.
    var standing: [MarkThrough] {
        var steps: [MarkThrough] = []
        for step in places {
            guard let step, step.revision > steps.last?.revision ?? 0 else { break }
            steps.append(step)
        }
        return steps
    }

    /// Whether no step stands.
    var isEmpty: Bool { places.first.flatMap { $0 } == nil }

    /// The revision of the newest step; 0 without steps.
    var newestRevision: UInt64 { standing.last?.revision ?? 0 }

    /// The newest step that covers a post; O(steps), of which there are few.
    func newest(covering post: PostOrigin) -> MarkThrough? {
        var newest: MarkThrough?
        for step in places {
            guard let step, step.covers(post), step.revision > newest?.revision ?? 0 else { break }
            newest = step
        }
        return newest
    }

    /// The place of a further step through a post.
    func place(through post: PostOrigin) -> Int {
        standing.prefix { $0.reachesBeyond(post) }.count
    }

    /// Puts a step to its place, and ends those above it.
    mutating func push(_ step: MarkThrough) {
        places.removeLast(max(places.count - Int(step.place), 0))
        places.append(step)
    }

    /// Puts a step of an earlier run to its place, unless a newer one is there.
    mutating func restore(_ step: MarkThrough) {
        let place = Int(step.place)
        while places.count <= place { places.append(nil) }
        if step.revision > places[place]?.revision ?? 0 { places[place] = step }
    }
}

extension MarkThrough {
    /// Whether the mark reaches a post of its list: the post was created up to the mark's post.
    func covers(_ origin: PostOrigin) -> Bool {
        (origin.createTimeMilliseconds, origin.id) <= (createTimeMilliseconds, post)
    }

    /// Whether the mark covers a post, and posts behind it.
    func reachesBeyond(_ origin: PostOrigin) -> Bool {
        (createTimeMilliseconds, post) > (origin.createTimeMilliseconds, origin.id)
    }
}
