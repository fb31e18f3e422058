package store

import "github.com/hashicorp/raft"

const (
	// cachedEntries is how many of the newest log entries are kept in memory, so that replication rarely reads the
	// file.
	cachedEntries = 512
	// maxCachedSize is the maximum size of a cached entry in bytes: a KiB for each of the 256 commands that may share
	// an entry. A batch of edits can take up megabytes, and hundreds of such entries would stay in memory until newer
	// entries replaced them.
	maxCachedSize = 256 << 10
)

// cache is a raft.LogCache that skips large entries. A leader rereads a large entry from the file for each follower,
// and a follower rereads it to apply it.
type cache struct {
	*raft.LogCache
	log raft.LogStore
}

var (
	_ raft.LogStore          = (*cache)(nil)
	_ raft.MonotonicLogStore = (*cache)(nil)
)

func newCache(log raft.LogStore) *cache {
	small, err := raft.NewLogCache(cachedEntries, log)
	if err != nil {
		panic(err) // it fails only for an invalid capacity
	}
	return &cache{small, log}
}

func (c *cache) StoreLog(log *raft.Log) error { return c.StoreLogs([]*raft.Log{log}) }

// StoreLogs bypasses the cache if any of the entries is large. The cache cannot hold an older entry with the same
// index, because Raft deletes entries before it replaces them, and a deletion clears the cache.
func (c *cache) StoreLogs(logs []*raft.Log) error {
	for _, log := range logs {
		if len(log.Data) > maxCachedSize {
			return c.log.StoreLogs(logs)
		}
	}
	return c.LogCache.StoreLogs(logs)
}
