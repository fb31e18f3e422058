package gatekeeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/api"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// BindAdminConfig names a new administrator of a cluster.
type BindAdminConfig struct {
	// DataDir is the data folder of a member that does not run.
	DataDir string
	// Subject is cert:NAME, a name in a client certificate, a SPIFFE id, or oidc:CLAIM=VALUE.
	Subject string
	// Binding gets the subject and the role admin, unless another binding has the subject: then that one gets the role.
	// Default "admin".
	Binding string
	// Author and Reason are journaled.
	Author, Reason string
}

func (cfg *BindAdminConfig) request() *gatekeeperv1.BindAdministratorRequest {
	return &gatekeeperv1.BindAdministratorRequest{Subject: cfg.Subject, Binding: cfg.Binding, Author: cfg.Author, Reason: cfg.Reason}
}

// BindAdmin leaves a request in a member's data folder that makes a subject an administrator of the cluster: the way
// back in when nobody has a credential of one. It needs no credential, because the owner of the folder has everything
// that the member has. The member has the cluster carry it out at its next start, if that is within a day, through the
// log as every change, and the journal names the member. id is that member's.
//
// Errors: a *ConfigError, ErrDataDirLocked for a folder whose server runs, ErrForeignDataDir for a folder that is not a
// server's, ErrSucceeded, and ErrDataDir.
func BindAdmin(cfg BindAdminConfig) (id string, err error) {
	setDefault(&cfg.Binding, api.DefaultAdminBinding)
	if cfg.DataDir == "" {
		return "", &ConfigError{"DataDir", "", "must be given: the data folder of a member that does not run"}
	}
	if err := api.CheckAdministrator(cfg.request()); err != nil {
		e, _ := errors.AsType[*semaphore.FieldError](err)
		field := map[string]string{"author": "Author", "reason": "Reason", "name": "Binding"}[e.Field]
		return "", &ConfigError{cmp.Or(field, "Subject"), e.Value, e.Rule}
	}
	id, _, err = consensus.LeaveAdminRequest(filepath.Clean(cfg.DataDir), consensus.AdminRequest{
		Subject: cfg.Subject, Binding: cfg.Binding, Author: cfg.Author, Reason: cfg.Reason, At: time.Now().UTC(),
	})
	switch {
	case err == nil:
		return id, nil
	case errors.Is(err, consensus.ErrFolderInUse):
		return "", fmt.Errorf("%w: stop its server first: %w", ErrDataDirLocked, err)
	case errors.Is(err, consensus.ErrForeignFolder):
		return "", &noDataDirError{err}
	case errors.Is(err, consensus.ErrSucceeded):
		return "", fmt.Errorf("%w: %w", ErrSucceeded, err)
	default:
		return "", fmt.Errorf("%w: %w", ErrDataDir, err)
	}
}

// The wait between attempts to carry out what BindAdmin has left doubles between two of these, and one attempt takes at
// most the third.
const (
	bindAdminMinWait = 100 * time.Millisecond
	bindAdminMaxWait = 5 * time.Second
	bindAdminAttempt = 10 * time.Second
	// maxAdminRequestAge is how old a request may be. An older one was forgotten: the person who left it may have gone
	// since.
	maxAdminRequestAge = 24 * time.Hour
)

// bindAdmin has the cluster carry out what BindAdmin has left in the folder, if anything.
func (s *Server) bindAdmin(folder *consensus.Folder) {
	left, err := folder.AdminRequest()
	file := filepath.Join(s.cfg.DataDir, consensus.AdminFileName)
	switch {
	case errors.Is(err, fs.ErrPermission):
		s.log.Error("this server may not read the administrator that the data folder asks for: change the owner of the file, and start the server again",
			slog.String("file", file), slog.Any("error", err))
	case err != nil:
		s.log.Error("the administrator that the data folder asks for cannot be read: run gatekeeperd bind-admin again",
			slog.String("file", file), slog.Any("error", err))
	}
	if left == nil {
		return
	}
	log := s.log.With(slog.String("subject", left.Subject), slog.String("author", left.Author))
	if !s.cfg.authenticates() {
		log.Warn("the data folder asks for an administrator; it is left there, because this server authenticates nobody")
		return
	}
	if age := time.Since(left.At); age.Abs() > maxAdminRequestAge {
		log.Error("the data folder asks for an administrator, and the request is not of the last 24 hours: run gatekeeperd bind-admin again, or remove the file",
			slog.Time("at", left.At), slog.String("file", file))
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.running.Go(func() {
		<-s.stop
		cancel()
	})
	s.running.Go(func() {
		err := s.carryOut(ctx, log, &gatekeeperv1.BindAdministratorRequest{
			Subject: left.Subject, Binding: left.Binding, Author: left.Author, Reason: left.Reason,
		})
		if err == nil {
			err = folder.DropAdminRequest()
		}
		if err != nil && ctx.Err() == nil {
			log.Error("what the data folder asks for was not carried out, or is still in it: run gatekeeperd bind-admin again, or remove the file",
				slog.String("file", file), slog.Any("error", err))
		}
	})
}

// carryOut makes attempts until the cluster has bound the administrator, refuses for good, or ctx ends.
func (s *Server) carryOut(ctx context.Context, log *slog.Logger, m *gatekeeperv1.BindAdministratorRequest) error {
	for wait := bindAdminMinWait; ; wait = min(2*wait, bindAdminMaxWait) {
		attempt, cancel := context.WithTimeout(ctx, bindAdminAttempt)
		err := s.api.BindAdministrator(attempt, m)
		cancel()
		if err == nil {
			log.Warn("the cluster has a new administrator, for the owner of this data folder")
			return nil
		}
		if _, refused := errors.AsType[*api.RefusedError](err); refused || ctx.Err() != nil {
			return err
		}
		if wait > time.Second {
			log.Warn("the administrator that the data folder asks for cannot be bound yet", slog.Any("error", err))
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
