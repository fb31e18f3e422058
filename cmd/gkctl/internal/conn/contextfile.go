package conn

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
)

// ContextFile is the file of contexts.
type ContextFile struct {
	Current  string         `yaml:"current-context,omitempty" json:"current_context,omitempty"`
	Contexts []SavedContext `yaml:"contexts" json:"items"`
}

// SavedContext is how to reach one cluster.
type SavedContext struct {
	Name      string   `yaml:"name" json:"name"`
	Endpoints []string `yaml:"endpoints" json:"endpoints"`
	Cluster   string   `yaml:"cluster,omitempty" json:"cluster,omitempty"`
	Group     string   `yaml:"group,omitempty" json:"group,omitempty"`
	Acquirer  string   `yaml:"acquirer,omitempty" json:"acquirer,omitempty"`
	TLS       SavedTLS `yaml:"tls,omitempty" json:"tls,omitzero"`
	// TokenFile has the bearer token. It is relative to the file of contexts, which never has the token.
	TokenFile string `yaml:"bearer-token-file,omitempty" json:"bearer_token_file,omitempty"`
}

// SavedTLS names PEM files, relative to the file of contexts.
type SavedTLS struct {
	CA         string `yaml:"ca,omitempty" json:"ca,omitempty"`
	Cert       string `yaml:"cert,omitempty" json:"cert,omitempty"`
	Key        string `yaml:"key,omitempty" json:"key,omitempty"`
	ServerName string `yaml:"server-name,omitempty" json:"server_name,omitempty"`
}

// ContextPath is where the file of contexts is.
func ContextPath() (string, error) {
	if p := os.Getenv("GK_CONFIG"); p != "" {
		return p, nil
	}
	dir := os.Getenv("XDG_CONFIG_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", ui.Usagef("GK_CONFIG is not set, and %w", err)
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "gatekeeper", "config.yaml"), nil
}

// ReadContexts reads the file of contexts; one that is not there is empty.
func ReadContexts(path string) (*ContextFile, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &ContextFile{}, nil
	}
	if err != nil {
		return nil, ui.Usagef("contexts: %w", err)
	}
	f := new(ContextFile)
	if len(bytes.TrimSpace(data)) == 0 {
		return f, nil
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(f); err != nil {
		return nil, ui.Usagef("contexts: %s: %s", path, strings.Join(strings.Fields(err.Error()), " ")) // it has several lines
	}
	for i, c := range f.Contexts {
		if c.Name == "" {
			return nil, ui.Usagef("contexts: %s: the context with number %d has no name", path, i+1)
		}
		if slices.IndexFunc(f.Contexts, func(o SavedContext) bool { return o.Name == c.Name }) != i {
			return nil, ui.Usagef("contexts: %s: the context %q is there twice", path, c.Name)
		}
	}
	return f, nil
}

// Write replaces the file in one step.
func (f *ContextFile) Write(path string) error {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(f); err != nil {
		return fmt.Errorf("contexts: %w", err)
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("contexts: %w", err)
	}
	t, err := os.CreateTemp(dir, ".config-*.yaml")
	if err != nil {
		return fmt.Errorf("contexts: %w", err)
	}
	_, err = t.Write(b.Bytes())
	if err = errors.Join(err, t.Close()); err == nil {
		err = os.Rename(t.Name(), path)
	}
	if err != nil {
		_ = os.Remove(t.Name()) // the error says what failed
		return fmt.Errorf("contexts: %w", err)
	}
	return nil
}

// Find is the context of that name; nil when there is none.
func (f *ContextFile) Find(name string) *SavedContext {
	if i := slices.IndexFunc(f.Contexts, func(c SavedContext) bool { return c.Name == name }); i >= 0 {
		return &f.Contexts[i]
	}
	return nil
}

// saved is the context in force; the zero value when there is none.
func (o *Global) saved() (SavedContext, error) {
	path, err := ContextPath()
	if err != nil {
		if o.context == "" {
			return SavedContext{}, nil
		}
		return SavedContext{}, err
	}
	f, err := ReadContexts(path)
	if err != nil {
		return SavedContext{}, err
	}
	name := cmp.Or(o.context, os.Getenv("GK_CONTEXT"), f.Current)
	if name == "" {
		return SavedContext{}, nil
	}
	c := f.Find(name)
	if c == nil {
		return SavedContext{}, ui.Usagef("there is no context %q in %s", name, path)
	}
	out := *c
	for _, p := range []*string{&out.TLS.CA, &out.TLS.Cert, &out.TLS.Key, &out.TokenFile} {
		if *p != "" && !filepath.IsAbs(*p) {
			*p = filepath.Join(filepath.Dir(path), *p)
		}
	}
	return out, nil
}

// CompleteContexts completes the names of contexts.
func CompleteContexts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	path, err := ContextPath()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	f, err := ReadContexts(path)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return words.Mapped(f.Contexts, func(c SavedContext) string { return c.Name }), cobra.ShellCompDirectiveNoFileComp
}
