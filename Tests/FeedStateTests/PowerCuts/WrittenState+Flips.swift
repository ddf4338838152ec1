import FeedDiskFaults
import FeedJournal
import FeedSQLite
import FeedState
import FeedTestSupport

/// Which bits are flipped, and how likely one is that no start may pass over.
extension WrittenState {
    /// One draw in so many is of any byte of any file, the others of what was written for a start.
    private static let anythingShare = 8

    /// A bit of what was written for a start to read; of anything at all one time in eight.
    func drawBit(_ generator: inout SeededGenerator) -> (name: String, bit: Int)? {
        let files = flipped(ofAnything: generator.oneIn(Self.anythingShare))
        guard let file = files.randomElement(using: &generator) else { return nil }
        return (file.name, Int.random(in: 0..<8 * file.byteCount, using: &generator))
    }

    /// How likely a drawn bit is one of the journal's, or of the database's, that is surely checked.
    func checkedShare() throws -> (journal: Double, database: Double) {
        let checkedBytes = try checkedByteCounts()
        var share = (journal: 0.0, database: 0.0)
        for isOfAnything in [false, true] {
            let part = 1 / Double(Self.anythingShare)
            let files = flipped(ofAnything: isOfAnything)
            for file in files {
                guard let checked = checkedBytes[file.name] else { continue }
                let chance =
                    (isOfAnything ? part : 1 - part) / Double(files.count)
                    * Double(checked) / Double(file.byteCount)
                if file.name == "state.db" {
                    share.database += chance
                } else {
                    share.journal += chance
                }
            }
        }
        return share
    }

    /// The files of a draw, and of how many bytes of each it draws one.
    private func flipped(ofAnything isOfAnything: Bool) -> [(name: String, byteCount: Int)] {
        disk.names.compactMap { name in
            let isToBeUsedAgain = name == "journal/spare.log" || name.hasPrefix("journal/recycled-")
            guard let all = disk[name]?.count, all > 0, isOfAnything || !isToBeUsedAgain else {
                return nil
            }
            return (name, isOfAnything ? all : min(all, contentByteCount(name)))
        }
    }

    /// At least so many bytes of each file are checked by each start: the records that `state.db` does
    /// not have but the last, which may be torn; and of `state.db`, where no log is beside it, the texts
    /// and the packed columns of all rows, with six bytes of each row's checksum.
    private func checkedByteCounts() throws -> [String: Int] {
        let database = try StateDatabase.look(
            directory: ".",
            files: disk,
            vfs: disk.databaseDiskName
        )
        let checkpointed = records(upTo: database.meta.checkpointed.number)
        var counts: [String: Int] = [:]
        for (name, range) in records(upTo: .max).dropFirst(checkpointed.count).dropLast() {
            counts[name, default: 0] += range.count
        }
        if disk["state.db-wal"]?.isEmpty != false {
            let checked = try database.connection.text(
                """
                SELECT (SELECT count(*) * 6 + ifnull(sum(length(author) + length(title)
                    + length(text) + length(link_url)), 0) FROM posts)
                    + (SELECT count(*) * 6 + ifnull(sum(length(packed)), 0) FROM counts)
                    + (SELECT count(*) * 6 + ifnull(sum(length(packed)), 0) FROM ballots)
                    + (SELECT count(*) * 6 + ifnull(sum(length(device)), 0) FROM voters)
                    + (SELECT count(*) * 6 + ifnull(sum(length(client) + length(outcomes)), 0)
                        FROM channels)
                """
            )
            counts["state.db"] = checked.flatMap { Int($0) }
        }
        return counts
    }
}
