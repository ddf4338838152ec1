@main
struct LoadGenMain {
    static func main() {}
}
