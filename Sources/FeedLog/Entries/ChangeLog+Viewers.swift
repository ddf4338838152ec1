package import FeedRanking

extension ChangeLog {
    /// Appends a voter's user; O(1).
    package func append(_ voter: VoterID, user: UInt64) {
        write(LogEntryKind.userVoter, revision: nil, atMost: 20) { writer in
            writer.varint(UInt64(voter.rawValue))
            writer.varint(user)
        }
    }

    /// Appends a viewer's marks on a post; O(1).
    package func append(_ marks: PostMarks) {
        write(LogEntryKind.marks, revision: marks.revision, atMost: 16) { writer in
            writer.varint(UInt64(marks.viewer.rawValue))
            writer.varint(marks.post.rawValue)
            writer.byte(marks.marks.rawValue)
        }
    }

    /// Appends a viewer's mark on all posts up to one; O(1).
    package func append(_ mark: MarkThrough) {
        write(LogEntryKind.markThrough, revision: mark.revision, atMost: 37) { writer in
            writer.varint(UInt64(mark.viewer.rawValue))
            // 0 is all feeds.
            writer.varint(mark.feed.map { UInt64($0.rawValue) + 1 } ?? 0)
            writer.byte(mark.mark.rawValue)
            writer.varint(UInt64(bitPattern: mark.createTimeMilliseconds))
            writer.varint(mark.post.rawValue)
            writer.byte(mark.place)
        }
    }
}
