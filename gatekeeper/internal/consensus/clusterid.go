package consensus

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// ClusterID identifies a cluster, and its incarnation between offline recoveries. Peers with different ids refuse each
// other.
type ClusterID struct {
	// Seed is drawn by a single server, or by the first member of a named set; see DataDir.Agree.
	Seed uint64
	// Incarnation is 1 at first. A recovery draws a new one. A cluster restored from a backup gets a new seed.
	Incarnation uint64
}

// String returns the id as seed.incarnation in hexadecimal, the format that ParseClusterID reads. The format is frozen,
// because data directories and snapshots contain it.
func (c ClusterID) String() string { return fmt.Sprintf("%016x.%x", c.Seed, c.Incarnation) }

// IsZero reports whether c is the zero value, which is not the id of a cluster.
func (c ClusterID) IsZero() bool { return c == ClusterID{} }

// ParseClusterID parses the format that String returns.
func ParseClusterID(s string) (ClusterID, error) {
	seed, incarnation, ok := strings.Cut(s, ".")
	if ok && len(seed) == 16 {
		a, errA := strconv.ParseUint(seed, 16, 64)
		b, errB := strconv.ParseUint(incarnation, 16, 64)
		if id := (ClusterID{Seed: a, Incarnation: b}); errA == nil && errB == nil && id.String() == s {
			return id, nil
		}
	}
	return ClusterID{}, fmt.Errorf("consensus: %q is not a cluster id: want 16 hexadecimal digits, a dot, and the incarnation", s)
}

// DrawClusterID draws the id of a new cluster, with a new random seed.
func DrawClusterID() ClusterID {
	var b [8]byte
	rand.Read(b[:]) // never fails; see crypto/rand
	return ClusterID{Seed: binary.BigEndian.Uint64(b[:]), Incarnation: 1}
}
