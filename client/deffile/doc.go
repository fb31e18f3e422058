// Package deffile reads and writes semaphore definition files. gatekeeperd --definitions loads such files, gkctl apply
// sends them, and gkctl get -o yaml prints them.
//
//	definitions:
//	  - name: nightly-export
//	    group_pattern: prod
//	    acquirer_pattern: app[12]
//	    duration: 1m
//
// A file is YAML, which includes JSON. Parsing is strict, because a typo here can silently stop or duplicate someone's
// nightly job. Parse rejects the following and reports the line and column:
//   - an unknown key, and a duplicate key or name
//   - a value of the wrong type, a duration without a unit, and a key without a value
//   - a value that YAML would read differently from how it is written, such as the name 1e3 or permits 010
//   - anchors, aliases and tags: each definition must be written out in full
//   - a second document
//
// An entry may end with a version, such as version: 17. It is the definition's version when the file was written. The
// version belongs to the entry, not to the definition; see Entry.Version.
//
// An absent key stays absent in the message, and the server applies the default. This package checks the structure of a
// definition but not the rules for its values, such as ranges and patterns. The server enforces those. Entry.Position
// maps a field in the server's error to a line in the file.
//
// # Compatibility
//
// Package client's compatibility promise applies within major version 1. Later versions read the same definitions from
// a file. They may add keys, which earlier versions reject. The layout of Marshal's output may change, but Parse reads
// all earlier layouts.
package deffile
