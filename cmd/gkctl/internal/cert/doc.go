// Package cert has the commands of a small certificate authority: cert init, server, peer, client and show. They only
// read and write files.
package cert
