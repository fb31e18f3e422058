package fence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
)

// DefaultTable is the table that holds the newest tokens.
const DefaultTable = "gatekeeper_fence"

// SQL makes writes of a database conditional on their token. The zero value is for PostgreSQL, SQLite, and what
// understands their INSERT ... ON CONFLICT ... DO UPDATE ... WHERE. It may be used from many goroutines.
type SQL struct {
	// Table is the name of the table, as written in SQL. Default: DefaultTable. It must not come from a stranger.
	Table string
}

// Schema is the statement that creates the table, for a migration.
func (f SQL) Schema() string {
	return "CREATE TABLE IF NOT EXISTS " + f.table() + " (resource VARCHAR(512) PRIMARY KEY, token BIGINT NOT NULL)"
}

func (f SQL) table() string {
	if f.Table == "" {
		return DefaultTable
	}
	return f.Table
}

// Create creates the table unless it is there.
func (f SQL) Create(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, f.Schema()); err != nil {
		return fmt.Errorf("the table %s cannot be created: %w", f.table(), err)
	}
	return nil
}

// Do runs write in a transaction of db that only a token which is not older than the newest seen for that resource gets
// into, and commits. The error is a *StaleError or ErrNoToken when the token is refused, then write was not called;
// otherwise write's, after which the transaction is rolled back; or the database's, for example of a commit whose
// outcome is unknown.
//
// The first Do of a new holder shuts out the ones before it, also with a write that does nothing. Do not hold another
// transaction of the same database open in write.
func (f SQL) Do(ctx context.Context, db *sql.DB, resource string, token uint64, write func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("the transaction cannot begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if err := f.Check(ctx, tx, resource, token); err != nil {
		return err
	}
	if err := write(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("the commit failed: %w", err)
	}
	return nil
}

// Check is Do for a transaction of the caller's own: call it before the first write, in the same transaction. From then
// on until its end the resource's row is locked, so that holders pass one after the other; after an error roll back.
// Where transactions are serializable a conflict is the database's error, to be tried again from the start.
func (f SQL) Check(ctx context.Context, tx *sql.Tx, resource string, token uint64) error {
	if token == 0 {
		return ErrNoToken
	}
	if token > math.MaxInt64 {
		return fmt.Errorf("token %d is none of Gatekeeper's", token)
	}
	// One statement, so that the row is locked before it is compared.
	table := f.table()
	r, err := tx.ExecContext(ctx, "INSERT INTO "+table+" (resource, token) VALUES ($1, $2)"+
		" ON CONFLICT (resource) DO UPDATE SET token = excluded.token WHERE "+table+".token <= excluded.token", resource, int64(token))
	if err != nil {
		return fmt.Errorf("the token cannot be compared in %s: %w", table, err)
	}
	passed, err := r.RowsAffected()
	if err != nil {
		return fmt.Errorf("the driver does not count rows: %w", err)
	}
	if passed > 0 {
		return nil
	}
	stale := &StaleError{Resource: resource, Token: token}
	var newest int64
	if err := tx.QueryRowContext(ctx, "SELECT token FROM "+table+" WHERE resource = $1", resource).Scan(&newest); err != nil {
		return errors.Join(stale, err)
	}
	stale.Newest = uint64(newest)
	return stale
}
