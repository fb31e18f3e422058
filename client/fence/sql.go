package fence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
)

// DefaultTable is the default name of the table that holds the newest tokens.
const DefaultTable = "gatekeeper_fence"

// SQL makes database writes conditional on their token. The zero value works with PostgreSQL, SQLite and other
// databases that support INSERT ... ON CONFLICT ... DO UPDATE ... WHERE. It is safe for concurrent use.
type SQL struct {
	// Table is the name of the table, as written in SQL. Default: DefaultTable. It is not escaped, so it must not come
	// from untrusted input.
	Table string
}

// Schema returns the statement that creates the table, for use in a migration.
func (f SQL) Schema() string {
	return "CREATE TABLE IF NOT EXISTS " + f.table() + " (resource VARCHAR(512) PRIMARY KEY, token BIGINT NOT NULL)"
}

func (f SQL) table() string {
	if f.Table == "" {
		return DefaultTable
	}
	return f.Table
}

// Create creates the table if it does not exist.
func (f SQL) Create(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, f.Schema()); err != nil {
		return fmt.Errorf("cannot create the table %s: %w", f.table(), err)
	}
	return nil
}

// Do runs write in a transaction on db and commits it. If a newer token has been seen for the resource, or token is 0,
// write is not called and the error is a *StaleError or ErrNoToken. If write returns an error, Do rolls back and
// returns it. Any other error comes from the database, such as a commit whose outcome is unknown.
//
// Once a new holder's Do has succeeded, the tokens of all previous holders are rejected, even if write did nothing.
// write must not keep another transaction open on the same database.
func (f SQL) Do(ctx context.Context, db *sql.DB, resource string, token uint64, write func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("cannot begin the transaction: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // no effect after Commit
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

// Check checks the token in the caller's transaction. Call it before the transaction's first write; Do does this for
// you. Check locks the resource's row until the transaction ends, so that holders write one at a time. After an
// error, roll back. With serializable transactions, the database reports a conflict as an error; retry the transaction
// from the start.
func (f SQL) Check(ctx context.Context, tx *sql.Tx, resource string, token uint64) error {
	if token == 0 {
		return ErrNoToken
	}
	if token > math.MaxInt64 {
		return fmt.Errorf("token %d is not a Gatekeeper token", token)
	}
	// Use a single statement, so that the row is locked before the tokens are compared.
	table := f.table()
	r, err := tx.ExecContext(ctx, "INSERT INTO "+table+" (resource, token) VALUES ($1, $2)"+
		" ON CONFLICT (resource) DO UPDATE SET token = excluded.token WHERE "+table+".token <= excluded.token", resource, int64(token))
	if err != nil {
		return fmt.Errorf("cannot compare the token in %s: %w", table, err)
	}
	passed, err := r.RowsAffected()
	if err != nil {
		return fmt.Errorf("the driver does not report affected rows: %w", err)
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
