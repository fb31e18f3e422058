package store

import "github.com/hashicorp/raft"

const (
	// cachedEntries is how many of the newest log entries are kept in memory, so that replication seldom reads the
	// file.
	cachedEntries = 512
	// largestCached is up to how many bytes an entry is kept there: a KiB for each of the 256 commands that may share
	// one. A batch of edits may have megabytes, and hundreds of them would stay until as many other entries have come.
	largestCached = 256 << 10
)

// cache is raft.LogCache without what is large: that is read from the file again, by a leader for each follower and by
// a follower to apply it.
type cache struct {
	*raft.LogCache
	log raft.LogStore
}

var (
	_ raft.LogStore          = (*cache)(nil)
	_ raft.MonotonicLogStore = (*cache)(nil)
)

func newCache(log raft.LogStore) (*cache, error) {
	small, err := raft.NewLogCache(cachedEntries, log)
	return &cache{small, log}, err
}

func (c *cache) StoreLog(log *raft.Log) error { return c.StoreLogs([]*raft.Log{log}) }

// StoreLogs stores entries beside the cache if any of them is large. It holds none of the same index then: Raft deletes
// what it replaces, and a deletion empties it.
func (c *cache) StoreLogs(logs []*raft.Log) error {
	for _, log := range logs {
		if len(log.Data) > largestCached {
			return c.log.StoreLogs(logs)
		}
	}
	return c.LogCache.StoreLogs(logs)
}
