package fence

import (
	"context"
	"database/sql"
)

// Store returns a Store for Handler that keeps tokens in a table in db.
func (f SQL) Store(db *sql.DB) Store { return sqlStore{f, db} }

type sqlStore struct {
	SQL
	db *sql.DB
}

// Raise records the token with an otherwise empty write.
func (s sqlStore) Raise(ctx context.Context, resource string, token uint64) error {
	return s.Do(ctx, s.db, resource, token, func(*sql.Tx) error { return nil })
}
