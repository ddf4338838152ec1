import FeedRanking

/// The rows of a table that log entries have changed, each as it is to be written.
///
/// A dictionary of places only: the rows of posts are large, and a dictionary of them would keep room for
/// twice as many and hash all anew whenever it grows.
struct PendingRows<Row: PendingRow> {
    private var places: [Row.Key: Int32] = [:]
    private var rows: [Row] = []
    private var textByteCount = 0

    var count: Int { rows.count }

    var byteCount: Int {
        textByteCount + rows.capacity * MemoryLayout<Row>.stride
            + places.capacity * (MemoryLayout<(Row.Key, Int32)>.stride + 1)
    }

    /// The row that has come first, second and so on.
    subscript(place place: UInt64) -> Row { rows[Int(place)] }

    subscript(key: Row.Key) -> Row? { places[key].map { rows[Int($0)] } }

    mutating func set(_ row: Row) {
        let key = row.key
        guard let place = places[key].map(Int.init) else {
            places[key] = Int32(rows.count)
            textByteCount += row.textByteCount
            rows.append(row)
            return
        }
        guard row.replaces(rows[place]) else { return }
        textByteCount += row.textByteCount - rows[place].textByteCount
        rows[place] = row
    }

    mutating func remove(_ key: Row.Key) {
        guard let place = places.removeValue(forKey: key).map(Int.init) else { return }
        textByteCount -= rows[place].textByteCount
        rows[place] = Row()
    }
}

/// The newest marks of each viewer on each post that have changed.
struct PendingMarks {
    /// The marks by chunk, in the order of posts.
    private var chunks: [UInt64: [PostMarks]] = [:]
    private(set) var count = 0

    /// Keeps the marks on a post, unless newer ones are there; O(log n).
    mutating func set(_ marks: PostMarks) {
        guard let key = MarkChunk.key(marks.viewer, marks.post.rawValue) else { return }
        count += chunks[key, default: []].set(marks)
    }

    var keys: [UInt64] { Array(chunks.keys) }

    subscript(key: UInt64) -> [PostMarks] { chunks[key] ?? [] }

    var byteCount: Int {
        chunks.capacity * 17 + count * MemoryLayout<PostMarks>.stride
    }
}

extension [PostMarks] {
    /// Puts marks into their place in the order of posts; returns by how many the array has grown.
    fileprivate mutating func set(_ marks: PostMarks) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].post.rawValue < marks.post.rawValue {
                low = middle + 1
            } else {
                high = middle
            }
        }
        guard low < count, self[low].post == marks.post else {
            insert(marks, at: low)
            return 1
        }
        if self[low].revision < marks.revision { self[low] = marks }
        return 0
    }
}
