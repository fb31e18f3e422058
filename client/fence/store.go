package fence

import (
	"context"
	"database/sql"
)

// Store is a Store in a table of db, for Handler.
func (f SQL) Store(db *sql.DB) Store { return sqlStore{f, db} }

type sqlStore struct {
	SQL
	db *sql.DB
}

// Raise is a write that does nothing but announce the token.
func (s sqlStore) Raise(ctx context.Context, resource string, token uint64) error {
	return s.Do(ctx, s.db, resource, token, func(*sql.Tx) error { return nil })
}
