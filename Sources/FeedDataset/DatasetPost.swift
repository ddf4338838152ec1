/// A post as a file has it: what it says, and what became of it elsewhere.
package struct DatasetPost: Equatable, Sendable {
    /// The line of the file that it begins on, counted from 1.
    package var line: Int
    /// Who wrote it; empty where the file does not say.
    package var authorName = ""
    /// Verbatim, entities and line breaks included.
    package var title = ""
    /// Verbatim; empty where the post is but a link.
    package var text = ""
    /// Where it leads; empty is nowhere.
    package var linkURL = ""
    /// A small picture; empty is none.
    package var thumbnailURL = ""
    /// When it was created, since the Unix epoch.
    package var createTimeMilliseconds: Int64 = 0
    /// How many comments it had.
    package var commentCount: UInt64 = 0
    /// How many voted for it.
    package var upvoteCount: UInt64 = 0
    /// How many voted against it.
    package var downvoteCount: UInt64 = 0

    /// A post of which only the line is known.
    package init(line: Int) {
        self.line = line
    }
}
