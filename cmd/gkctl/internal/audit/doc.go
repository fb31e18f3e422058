// Package audit implements gkctl audit verify, which checks a server's audit log. It only reads files and does not
// contact a server.
package audit
