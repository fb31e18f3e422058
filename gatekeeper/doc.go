// Package gatekeeper implements the Gatekeeper server, which can be embedded in any Go program:
//
//	server, err := gatekeeper.Open(ctx, gatekeeper.Config{DataDir: "/var/lib/gatekeeper"})
//	if err != nil {
//		return err
//	}
//	defer server.Close(context.Background())
//
// This opens a single durable server on loopback. Config describes how several servers form a cluster. Command
// gatekeeperd wraps this package in flags, and examples/embedded is an application whose processes form the cluster.
// Clients use package client, or any gRPC client of proto/gatekeeper/v1.
//
// This package makes no decisions about permits. It checks a configuration, opens the packages under internal/ in
// dependency order, and closes them in reverse order:
//
//	consensus  Raft: the replicated log, membership, leadership, and proof that this server still leads
//	batcher    packs many commands into one log entry
//	keeper     the leader's part of every call: read, decide, confirm or propose; with the lessor, which tracks
//	           deadlines, and the queue of waiters
//	watch      streams applied changes to subscribers
//	api        gRPC: validate, convert, call, forward to the leader
//	gateway    HTTP: JSON, Server-Sent Events, sessions and the dashboard, over an in-memory connection to the API
//	metrics    metrics, health and profiles on the admin port
//	dump       writes the whole state to the server's log output
//
// # Starting
//
// All listeners are opened before anything is written, so that a port in use is reported before a data directory
// exists. Then the data directory is locked. It belongs to one member of one cluster for its lifetime. Only an empty
// directory is assigned to a cluster: a new cluster of this server alone, a new cluster of Config.Members, or an
// existing cluster that this server joins through Config.Join.
//
// # Recovering
//
// A cluster that has permanently lost its majority is not repaired in place. Recover reads what is left of its data
// directories and creates a data directory for a new single-server cluster, whose id has the same seed and a later
// incarnation. The new cluster cannot tell which permits the lost servers granted. Unless the directories of a majority
// were read, it waits until those permits have definitely expired before it grants anything. Servers in the old cluster
// that encounter the new one stop with ErrSuperseded.
//
// Restore creates such a directory from a backup. A backup lacks the permits granted since it was taken, so the new
// cluster waits until those have expired too. The new cluster also has a different seed, so the servers and clients of
// the two clusters reject each other. BindAdmin lets the owner of a member's data directory regain administrator
// access.
//
// # Stopping
//
// Close first makes clients move to other servers, then transfers leadership so that the other members do not have to
// detect a failure, then waits for calls in progress, then closes everything. It does not touch permits: their holders
// refresh them with the next leader. A server that cannot continue, for example because its disk has failed, does not
// try to recover. It stops serving and closes Done, Err returns the fault, and the supervisor must restart it.
//
// # Compatibility
//
// Within major version 1, code that compiles with this package continues to compile and work. New versions may add
// functions, methods, constants and fields, so use field names in struct literals. Error messages, log messages and
// metric names may change in a minor version; the changelog lists such changes. Every later version can open a data
// directory written by an earlier one, and servers of adjacent minor versions can run in one cluster. A version that
// does not support the feature level in force refuses to start. Memory and ExpireNow are for tests and may change in a
// minor version.
package gatekeeper
