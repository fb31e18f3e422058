// Package sqltest tests package fence with SQLite and PostgreSQL. It is a separate module, because users of the client
// do not need their drivers. A test of package fence runs it.
package sqltest
