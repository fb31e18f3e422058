package consensus

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// ClusterID distinguishes clusters, and the lives of one cluster between offline recoveries. Peers of different ids
// refuse each other.
type ClusterID struct {
	// Seed is drawn by a single server, or by the first member of a named set, see Folder.Agree.
	Seed uint64
	// Incarnation is 1 at first; a recovery draws a new one. A cluster that is restored from a backup has another seed.
	Incarnation uint64
}

// String is seed.incarnation in hexadecimal, as ParseClusterID reads it. The form is frozen: it is in data folders and
// snapshots.
func (c ClusterID) String() string { return fmt.Sprintf("%016x.%x", c.Seed, c.Incarnation) }

// IsZero says that there is no cluster id.
func (c ClusterID) IsZero() bool { return c == ClusterID{} }

// ParseClusterID reads what String wrote.
func ParseClusterID(s string) (ClusterID, error) {
	seed, incarnation, ok := strings.Cut(s, ".")
	if ok && len(seed) == 16 {
		a, errA := strconv.ParseUint(seed, 16, 64)
		b, errB := strconv.ParseUint(incarnation, 16, 64)
		if id := (ClusterID{Seed: a, Incarnation: b}); errA == nil && errB == nil && id.String() == s {
			return id, nil
		}
	}
	return ClusterID{}, fmt.Errorf("consensus: %q is not a cluster id: want 16 hexadecimal digits, a point, and the incarnation", s)
}

// DrawClusterID draws the id of a new cluster, with a seed that no other has.
func DrawClusterID() ClusterID {
	var b [8]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	return ClusterID{Seed: binary.BigEndian.Uint64(b[:]), Incarnation: 1}
}
