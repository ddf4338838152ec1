package members

// Service is what the service of a node says of itself: to whom clients go who ask another node, and which
// levels of entries it reads. Every node asks the others for it.
type Service struct {
	Address      string `json:"address"`
	LowestLevel  uint64 `json:"lowest_level"`
	HighestLevel uint64 `json:"highest_level"`
}
