package peers

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"feed-replica/members"
)

// Services are asked for once a second, in a request of their own: they are no part of the log.
const (
	servicePath             = "/feed-replica/service"
	servicePeriod           = time.Second
	servicePatience         = 2 * time.Second
	maximumServiceByteCount = 16 << 10
)

// Directory knows who the others are, and takes what their services say.
type Directory interface {
	// Service is this node's own, or nil if none was there yet.
	Service() *members.Service
	Members() map[members.ID]members.Member
	TakeService(id members.ID, service members.Service)
}

// answerService answers other nodes.
func answerService(directory Directory) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		service := directory.Service()
		if service == nil {
			http.Error(w, "no service was here yet", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(service) // who asked may be gone
	}
}

// AskServices asks the other nodes until stop is closed. One that does not answer holds nobody up.
func (n *Node) AskServices(stop <-chan struct{}) {
	ticker := time.NewTicker(servicePeriod)
	defer ticker.Stop()
	now := make(chan struct{}, 1) // the first time, before the first tick
	now <- struct{}{}
	asked := make(chan members.ID, members.MaximumMemberCount)
	busy := map[members.ID]bool{}
	for {
		select {
		case <-stop:
			return
		case id := <-asked:
			delete(busy, id)
			continue
		case <-now:
		case <-ticker.C:
		}
		for id, member := range n.directory.Members() {
			if id == n.own || busy[id] || len(busy) >= cap(asked) {
				continue
			}
			busy[id] = true
			go func(id members.ID, url string) {
				if service, err := n.askService(url); err == nil {
					n.directory.TakeService(id, service)
				}
				asked <- id
			}(id, member.URL)
		}
	}
}

func (n *Node) askService(url string) (service members.Service, err error) {
	response, err := n.client.Get(url + servicePath)
	if err != nil {
		return service, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return service, fmt.Errorf("%s: %s", url, response.Status)
	}
	err = json.NewDecoder(io.LimitReader(response.Body, maximumServiceByteCount)).Decode(&service)
	return service, err
}
