package consensus

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ClusterID tells clusters apart, and the lives of one cluster between offline restores. Peers of different ids refuse each
// other.
type ClusterID struct {
	// Seed is drawn by a single server, and the same for all members of a named set.
	Seed uint64
	// Incarnation is 1 at first; a restore or recovery draws a new one.
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

// drawClusterID is the id of a new single server.
func drawClusterID() ClusterID {
	var b [8]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	return ClusterID{Seed: binary.BigEndian.Uint64(b[:]), Incarnation: 1}
}

// namedSetID is the id on which the members of a new named set agree without talking: the first eight bytes of a hash
// over the cluster's name and the sorted member ids. The form is frozen.
func namedSetID(clusterName string, memberIDs []string) ClusterID {
	ids := slices.Sorted(slices.Values(memberIDs))
	h := sha256.New()
	for _, s := range append([]string{clusterName}, ids...) {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(s))))
		h.Write([]byte(s))
	}
	return ClusterID{Seed: binary.BigEndian.Uint64(h.Sum(nil)), Incarnation: 1}
}
