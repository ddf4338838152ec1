@main
struct FeedServiceMain {
    static func main() {}
}
