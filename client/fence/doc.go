// Package fence rejects writes from a holder whose permit has ended.
//
// No lock service can stop a process that is paused between its check and its write, or a request that is delayed in
// the network. The process wakes up, still assumes that it holds the permit, and writes. Only the resource that it
// writes to can stop it. Each permit has a token that is greater than all previous ones. The writer sends the token
// with each write. The resource remembers the greatest token it has seen and rejects any older one. A late write by the
// previous holder is therefore rejected once the next holder has written, or has announced itself with an empty write.
//
// The package supports two resources with the standard library alone: a SQL database, through SQL, where the check and
// the write share a transaction; and an HTTP server, through Handler. Other resources can use their own conditional
// writes: an object store with If-Match on an object that records the token, or a file system with a rename into a
// directory named after the token.
//
// Tokens can be compared only within one semaphore. The resource name keeps semaphores apart: use the semaphore's name,
// or a name for the data that it guards. Fencing works for semaphores with one permit. If there are several holders at
// a time, all but the newest are rejected.
//
// # Compatibility
//
// The compatibility promise of package client applies within major version 1. It includes the table and its columns,
// Header, and Handler's status codes, because processes that run different versions share them.
package fence
