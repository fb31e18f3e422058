// Package conn connects to the servers. Every command gets a Factory, which holds the streams, the global flags and the
// dialer. The package also reads the context file, and completes arguments with names from the servers.
package conn
