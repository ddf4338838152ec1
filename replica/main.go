// Command feed-replica is one node of a replicated log beside a feed service.
package main

func main() {}
