// Package cert implements a small certificate authority: gkctl cert init, server, peer, client and show. The commands
// only read and write files and do not contact a server.
package cert
