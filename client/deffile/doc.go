// Package deffile reads and writes files of semaphore definitions: what gatekeeperd --definitions loads, what gkctl
// apply sends, and what gkctl get -o yaml prints.
//
//	definitions:
//	  - name: nightly-export
//	    group_pattern: prod
//	    acquirer_pattern: app[12]
//	    duration: 1m
//
// A file is YAML, and so may be JSON. Reading is strict, because a slip here silently stops or doubles somebody's
// nightly job: an unknown key, a key or a name given twice, a value of another type, a number without a unit, a key
// without a value, a second document: each is refused with its line and column. What YAML would read as something else
// than what is written (a name 1e3, permits 010) is refused too. Anchors, aliases and tags are refused: a definition
// says everything about its semaphore where it stands.
//
// An entry may end with version: 17, which is the version that was read when the file was written. It is about the
// entry, and no part of the definition: see Entry.Version.
//
// An absent key stays absent in the message: the server fills the defaults in. This package knows the shape of a
// definition and none of its rules; those (ranges, patterns) are the server's to check, and Entry.Position says to
// which line its answer belongs.
//
// # Compatibility
//
// As package client, within major version 1. A file that a version reads, every later one reads to the same
// definitions; new keys may come, which older versions refuse. What Marshal writes may change in its layout, and Parse
// reads it back.
package deffile
