package consensus

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// node is a struct with a String method, like raft.Raft.
type node struct{ Secrets []int }

func (*node) String() string { return "Node at gk1.test:7421 [Leader]" }

func TestRaftLogger_WholeStructures_AreReadableInJSON(t *testing.T) {
	var out bytes.Buffer
	log := raftLogger(slog.New(slog.NewJSONHandler(&out, nil)))
	log.Info("all of them",
		"leader", &node{Secrets: []int{1, 2, 3}},
		"peer", raft.Server{Suffrage: raft.Voter, ID: "gk2", Address: "gk2.test:7421"},
		"servers", []raft.Server{{ID: "gk3", Address: "gk3.test:7421"}},
		"format", hclog.Fmt("%d of %d", 1, 3),
		"id", raft.ServerID("gk4"),
		"term", uint64(7), "took", time.Second, "error", errors.New("the disk is full"), "nothing", nil)
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"leader":  "Node at gk1.test:7421 [Leader]",
		"peer":    "gk2 at gk2.test:7421 (voter)",
		"servers": "[{Suffrage:Voter ID:gk3 Address:gk3.test:7421}]",
		"format":  "1 of 3",
		"id":      "gk4",
		"term":    7.0, "took": float64(time.Second), "error": "the disk is full", "nothing": nil,
	} {
		if got[key] != want {
			t.Errorf("%s = %v, want %v", key, got[key], want)
		}
	}
}
