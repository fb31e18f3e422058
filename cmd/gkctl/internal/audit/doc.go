// Package audit implements gkctl audit verify, which checks a server's audit log. It reads files and contacts no
// server.
package audit
