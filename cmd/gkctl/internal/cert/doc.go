// Package cert implements a small certificate authority: gkctl cert init, server, peer, client and show. The commands
// only read and write files.
package cert
