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

// BindAdminConfig specifies a new administrator for a cluster.
type BindAdminConfig struct {
	// DataDir is the data directory of a stopped member.
	DataDir string
	// Subject is cert:NAME, a name in a client certificate, a SPIFFE id, or oidc:CLAIM=VALUE.
	Subject string
	// Binding is the name of the binding to add the subject and the role admin to. If another binding already has the
	// subject, the role is added to that binding instead. Default "admin".
	Binding string
	// Author and Reason are written to the journal.
	Author, Reason string
}

func (cfg *BindAdminConfig) request() *gatekeeperv1.BindAdministratorRequest {
	return &gatekeeperv1.BindAdministratorRequest{Subject: cfg.Subject, Binding: cfg.Binding, Author: cfg.Author, Reason: cfg.Reason}
}

// BindAdmin leaves a request in a member's data directory to make a subject an administrator of the cluster. Use it to
// regain access when no one has an administrator's credential. It needs no credential, because the directory's owner
// already has access to everything that the member has. The member carries out the request the next time it starts, if
// that is within 24 hours. The change goes through the log like any other, and the journal names the member. BindAdmin
// returns that member's id.
//
// It returns a *ConfigError, ErrDataDirLocked if the directory's server is running, ErrForeignDataDir if the directory
// does not belong to a server, ErrSuperseded, or ErrDataDir.
func BindAdmin(cfg BindAdminConfig) (id string, err error) {
	setDefault(&cfg.Binding, api.DefaultAdminBinding)
	if cfg.DataDir == "" {
		return "", &ConfigError{"DataDir", "", "must be set to the data directory of a stopped member"}
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
	case errors.Is(err, consensus.ErrDataDirInUse):
		return "", fmt.Errorf("%w: stop its server first: %w", ErrDataDirLocked, err)
	case errors.Is(err, consensus.ErrForeignDataDir):
		return "", &notDataDirError{err}
	case errors.Is(err, consensus.ErrSuperseded):
		return "", fmt.Errorf("%w: %w", ErrSuperseded, err)
	default:
		return "", fmt.Errorf("%w: %w", ErrDataDir, err)
	}
}

// The wait between attempts to carry out a request left by BindAdmin doubles from bindAdminMinWait to bindAdminMaxWait.
// One attempt takes at most bindAdminAttempt.
const (
	bindAdminMinWait = 100 * time.Millisecond
	bindAdminMaxWait = 5 * time.Second
	bindAdminAttempt = 10 * time.Second
	// maxAdminRequestAge limits the age of a request. An older request was probably forgotten, and its author may have
	// since left.
	maxAdminRequestAge = 24 * time.Hour
)

// bindAdmin carries out the request that BindAdmin left in the data directory, if there is one.
func (s *Server) bindAdmin(dir *consensus.DataDir) {
	request, err := dir.AdminRequest()
	file := filepath.Join(s.cfg.DataDir, consensus.AdminFileName)
	switch {
	case errors.Is(err, fs.ErrPermission):
		s.log.Error("no permission to read the administrator request in the data directory: change the file's owner and restart the server",
			slog.String("file", file), slog.Any("error", err))
	case err != nil:
		s.log.Error("cannot read the administrator request in the data directory: run gatekeeperd bind-admin again",
			slog.String("file", file), slog.Any("error", err))
	}
	if request == nil {
		return
	}
	log := s.log.With(slog.String("subject", request.Subject), slog.String("author", request.Author))
	if !s.cfg.authenticates() {
		log.Warn("the data directory has an administrator request; ignoring it, because this server does not authenticate callers")
		return
	}
	if age := time.Since(request.At); age.Abs() > maxAdminRequestAge {
		log.Error("the administrator request in the data directory is not from the last 24 hours: run gatekeeperd bind-admin again, or remove the file",
			slog.Time("at", request.At), slog.String("file", file))
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.running.Go(func() {
		<-s.stop
		cancel()
	})
	s.running.Go(func() {
		err := s.carryOut(ctx, log, &gatekeeperv1.BindAdministratorRequest{
			Subject: request.Subject, Binding: request.Binding, Author: request.Author, Reason: request.Reason,
		})
		if err == nil {
			err = dir.DropAdminRequest()
		}
		if err != nil && ctx.Err() == nil {
			log.Error("the administrator request in the data directory was not carried out, or could not be removed: run gatekeeperd bind-admin again, or remove the file",
				slog.String("file", file), slog.Any("error", err))
		}
	})
}

// carryOut retries until the cluster binds the administrator or refuses permanently, or until ctx ends.
func (s *Server) carryOut(ctx context.Context, log *slog.Logger, m *gatekeeperv1.BindAdministratorRequest) error {
	for wait := bindAdminMinWait; ; wait = min(2*wait, bindAdminMaxWait) {
		attempt, cancel := context.WithTimeout(ctx, bindAdminAttempt)
		err := s.api.BindAdministrator(attempt, m)
		cancel()
		if err == nil {
			log.Warn("the cluster has a new administrator, requested by the owner of this data directory")
			return nil
		}
		if _, refused := errors.AsType[*api.RefusedError](err); refused || ctx.Err() != nil {
			return err
		}
		if wait > time.Second {
			log.Warn("cannot carry out the administrator request in the data directory yet", slog.Any("error", err))
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
