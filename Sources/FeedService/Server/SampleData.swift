/// The posts of `--sample-data`: twenty titles for a first look at the service.
enum SampleData {
    /// One title a post, in no order of rank.
    static let titles = [
        "Apple", "Apricot", "Avocado", "Banana", "Blackberry", "Blueberry", "Cherry", "Coconut",
        "Fig", "Grape", "Kiwi", "Lemon", "Mango", "Melon", "Orange", "Papaya", "Peach", "Pear",
        "Pineapple", "Strawberry",
    ]
}
