package gatekeeper

import (
	"errors"
	"strings"
	"testing"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestCluster_RemovedMember_Stops(t *testing.T) {
	t.Parallel()
	leader, followers := findLeader(t, cluster(t, "gk1", "gk2", "gk3"))
	removed := followers[0]
	c := newCaller(t, followers[1])
	if _, err := c.RemoveMember(bounded(t), &gatekeeperv1.RemoveMemberRequest{Id: removed.cfg.ID}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-removed.Done():
	case <-bounded(t).Done():
		t.Fatal("the removed server did not stop")
	}
	if err := removed.Err(); !errors.Is(err, ErrRemoved) || !strings.Contains(err.Error(), "a new server needs a new id") {
		t.Errorf("Err = %v, want ErrRemoved", err)
	}
	closeServer(t, removed)
	for _, s := range []*Server{leader, followers[1]} {
		if s.Err() != nil {
			t.Errorf("%s stopped too: %v", s.cfg.ID, s.Err())
		}
	}
}
