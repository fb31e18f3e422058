// Package audit has the command that checks the audit log of a server: audit verify. It reads files and does not
// contact servers.
package audit
