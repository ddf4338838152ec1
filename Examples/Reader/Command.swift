import FeedProto

/// What a person types, a line each.
enum Command {
    case next, previous
    case order(Order)
    case vote(row: Int, VoteDirection)
    case open(row: Int)
    case dismiss(row: Int)
    case dismissAll
    case post(title: String)
    case signIn(email: String)
    case signOut
    /// Takes what was done signed out along to the account.
    case adopt
    case sync
    case quit

    static let help = """
        n, p  next and previous page      u 3, d 3  vote up or down on row 3
        top, new, hot  order              o 3  open row 3      x 3  dismiss it      x all
        post TITLE     in EMAIL, out      s  sync              q  quit
        take           what you did signed out is yours
        """

    /// The command of a line; nil where it is none.
    init?(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        let rest = words.count > 1 ? words[1] : ""
        switch (words.first, Int(rest)) {
        case ("n", _): self = .next
        case ("p", _): self = .previous
        case ("top", _): self = .order(.top)
        case ("new", _): self = .order(.new)
        case ("hot", _): self = .order(.hot)
        case ("u", let row?): self = .vote(row: row, .up)
        case ("d", let row?): self = .vote(row: row, .down)
        case ("o", let row?): self = .open(row: row)
        case ("x", let row?): self = .dismiss(row: row)
        case ("x", _) where rest == "all": self = .dismissAll
        case ("post", _) where !rest.isEmpty: self = .post(title: rest)
        case ("in", _) where !rest.isEmpty: self = .signIn(email: rest)
        case ("out", _): self = .signOut
        case ("take", _): self = .adopt
        case ("s", _): self = .sync
        case ("q", _): self = .quit
        default: return nil
        }
    }
}
