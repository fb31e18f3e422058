// Package cert has the commands of a small certificate authority: cert init, server, peer, client and show. They work on files alone and
// ask no server.
package cert
