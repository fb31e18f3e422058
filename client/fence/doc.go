// Package fence refuses the writes of a holder whose time is over.
//
// No lock service can stop a process that is paused between its check and its write, or a request that is stuck in a
// network: it wakes, believes for another moment, and writes. What can stop it is whatever it writes to. Each permit
// has a token that is greater than all before it; the writer sends it along, and the resource remembers the greatest
// one that it has seen and refuses what is older. Then the last holder's late write is refused as soon as the next
// holder has written once, or has announced itself by an empty write.
//
// Two resources are covered here, with the standard library alone: a SQL database, by SQL, where the check and the
// write are one transaction; and an HTTP server, by Handler. Others do the same by their own conditional writes: an
// object store by an If-Match on an object that names the token, a file system by a rename into a folder named by it.
//
// A token is compared within one semaphore only. The name of the resource keeps different semaphores apart: give it the
// semaphore's, or one of your own for whatever that semaphore guards. It works for semaphores of one permit: of several
// holders at once all but the newest would be refused.
//
// # Compatibility
//
// As package client, within major version 1. The table and its columns, the Header, and the status codes that Handler
// answers are part of that: processes of different versions share them.
package fence
