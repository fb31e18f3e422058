// Package sqltest tests package fence on SQLite and PostgreSQL. It is a separate module, since no user of the client
// needs their drivers; the test of package fence runs it.
package sqltest
