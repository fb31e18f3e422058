// Package gatekeeper is the server of Gatekeeper, embeddable in any Go program:
//
//	server, err := gatekeeper.Open(ctx, gatekeeper.Config{DataDir: "/var/lib/gatekeeper"})
//	if err != nil {
//		return err
//	}
//	defer server.Close(context.Background())
//
// opens a single durable server on loopback; Config says how several make a cluster. Command gatekeeperd is this
// package with flags around it, examples/embedded an application whose processes are the cluster. Clients use package
// client, or any gRPC client of proto/gatekeeper/v1.
//
// This package decides nothing. It checks a configuration, opens the rooms under internal/ in the order in which they
// need each other, and closes them in the reverse order:
//
//	consensus  the log on which a majority agrees, membership, who leads, and the proof that one still does
//	batcher    many commands in one entry of the log
//	keeper     the leader's part of every call: read, decide, confirm or propose; with the lessor, which keeps
//	           deadlines, and the queue of waiters
//	watch      what was applied, to those who asked to hear it
//	api        gRPC: validate, convert, call, pass on to the leader
//	gateway    HTTP: JSON, Server-Sent Events, sessions and the dashboard, over the API on a connection in memory
//	metrics    numbers, health and profiles on the admin port
//	dump       the whole state as lines of the log
//
// # Starting
//
// All listeners are opened before anything is written, so that a port in use is reported before a data folder exists.
// Then the data folder is locked. It belongs to one member of one cluster for life; only an empty one is given to a
// cluster: a new one of this server alone, the named set of Config.Members, or the one that Config.Join asks to be
// taken into.
//
// # Recovering
//
// A cluster that has lost its majority for good is not repaired in place. Recover reads what is left of its data
// folders and makes the folder of a new cluster of one server, under a later incarnation of its id. What it cannot
// know, the permits that only the lost servers had granted, is waited out before anything is granted, unless the
// folders of a majority were read. Servers of the old cluster that meet the new one leave with ErrSucceeded.
//
// Restore makes such a folder of a backup. A backup lacks what was granted since, so that is waited out too, and the
// new cluster has another seed: servers and clients of the two refuse each other. BindAdmin is the way back in for the
// owner of a member's data folder.
//
// # Stopping
//
// Close first sends clients away (health, ended streams), then hands leadership over, so that the others need not
// notice a death, then lets calls under way end, then closes. Permits are not touched: their holders refresh them at
// the next leader. A server that cannot go on, because its disk fails for example, refuses to guess: it stops serving,
// closes Done with Err, and leaves the rest to its supervisor.
//
// # Compatibility
//
// Within major version 1, code that compiles with this package continues to compile and to work. New versions may add
// functions, methods, constants and fields: name the fields in struct literals. Texts of errors, log messages and the
// names of metrics may change in a minor version, and the changelog says so. A data folder of a version is opened by
// every later one, and servers of neighbouring minor versions work in one cluster; a version that is older than the
// feature level in force refuses to start. Memory and ExpireNow are for tests and may change in a minor version.
package gatekeeper
