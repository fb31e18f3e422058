// Package sqltest tests package fence with SQLite and PostgreSQL. It is a separate module so that the client's module
// does not depend on the database drivers. TestSQL_RealDatabases_PassTheSuite in package fence runs these tests.
package sqltest
