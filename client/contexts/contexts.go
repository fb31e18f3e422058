// Package contexts reads gkctl's context file, which describes how to reach each cluster. A program that uses it
// connects to the same cluster as its operator.
//
//	c, err := contexts.Dial(ctx, "prod")
//
// `gkctl context set` writes the file.
package contexts

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gatekeeperd/gatekeeper/client"
)

// Dial connects to the cluster of the named context. An empty name selects the current context, as in Load. opts are
// applied after the context's options. If a name is given, the context takes precedence over the client's environment
// variables (GK_ENDPOINTS and so on); otherwise the variables take precedence. Dial fails if Load or client.Dial fails.
func Dial(ctx context.Context, name string, opts ...client.Option) (*client.Client, error) {
	c, err := Load(name)
	if err != nil {
		return nil, err
	}
	endpoints, options := c.Options(name != "")
	return client.Dial(ctx, endpoints, append(options, opts...)...)
}

// Load returns the named context. An empty name selects the context named by GK_CONTEXT, or else the file's current
// context. If neither is set, Load returns the zero Context. The paths in the result are absolute. Load fails if the
// file cannot be read or contains no context with that name.
func Load(name string) (Context, error) {
	path, err := Path()
	if err != nil {
		if name == "" {
			return Context{}, nil
		}
		return Context{}, err
	}
	f, err := Read(path)
	if err != nil {
		return Context{}, err
	}
	name = cmp.Or(name, os.Getenv("GK_CONTEXT"), f.Current)
	if name == "" {
		return Context{}, nil
	}
	c := f.Find(name)
	if c == nil {
		return Context{}, fmt.Errorf("there is no context %q in %s", name, path)
	}
	out := *c
	for _, p := range []*string{&out.TLS.CA, &out.TLS.Cert, &out.TLS.Key, &out.TokenFile} {
		if *p != "" && !filepath.IsAbs(*p) {
			*p = filepath.Join(filepath.Dir(path), *p)
		}
	}
	return out, nil
}

// Setting returns the value of a setting such as "tls-ca": either the value saved in a context or the value of the
// environment variable (here GK_TLS_CA). If the context was chosen by name, its value takes precedence; otherwise the
// variable does.
func Setting(name, saved string, chosen bool) string {
	if chosen && saved != "" {
		return saved
	}
	return cmp.Or(os.Getenv("GK_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_"))), saved)
}

// Options returns the endpoints and options for client.Dial. See Setting for which values take precedence.
func (c *Context) Options(chosen bool) (endpoints []string, opts []client.Option) {
	if e := Setting("endpoints", strings.Join(c.Endpoints, ","), chosen); e != "" {
		endpoints = strings.Split(e, ",")
	}
	tls := client.TLS{
		CAFile: Setting("tls-ca", c.TLS.CA, chosen), CertFile: Setting("tls-cert", c.TLS.Cert, chosen), KeyFile: Setting("tls-key", c.TLS.Key, chosen),
		ServerName: Setting("tls-server-name", c.TLS.ServerName, chosen),
	}
	if tls != (client.TLS{}) {
		opts = append(opts, client.WithTLS(tls))
	}
	if file, token := c.Bearer(chosen); token != "" {
		opts = append(opts, client.WithBearerToken(func(context.Context) (string, error) { return token, nil }))
	} else if file != "" {
		opts = append(opts, client.WithBearerTokenFile(file))
	} else if chosen && c.TLS.Cert != "" {
		opts = append(opts, client.WithBearerToken(nil)) // servers prefer a token, but the chosen context has a certificate
	}
	if v := Setting("cluster", c.Cluster, chosen); v != "" {
		opts = append(opts, client.WithCluster(v))
	}
	if v := Setting("group", c.Group, chosen); v != "" {
		opts = append(opts, client.WithGroup(v))
	}
	if v := Setting("acquirer", c.Acquirer, chosen); v != "" {
		opts = append(opts, client.WithAcquirer(v))
	}
	return endpoints, opts
}

// Bearer returns either the path of the bearer token file or the token in GK_BEARER_TOKEN. GK_BEARER_TOKEN_FILE takes
// precedence over GK_BEARER_TOKEN. If the context was chosen by name and has a credential, both variables are ignored.
func (c *Context) Bearer(chosen bool) (file, token string) {
	switch {
	case chosen && (c.TokenFile != "" || c.TLS.Cert != ""):
		return c.TokenFile, ""
	case os.Getenv("GK_BEARER_TOKEN_FILE") != "":
		return os.Getenv("GK_BEARER_TOKEN_FILE"), ""
	case os.Getenv("GK_BEARER_TOKEN") != "":
		return "", strings.TrimSpace(os.Getenv("GK_BEARER_TOKEN"))
	}
	return c.TokenFile, ""
}

// File holds the contents of a context file.
type File struct {
	Current  string    `yaml:"current-context,omitempty" json:"current_context,omitempty"`
	Contexts []Context `yaml:"contexts" json:"items"`
}

// Context describes how to reach one cluster.
type Context struct {
	Name      string   `yaml:"name" json:"name"`
	Endpoints []string `yaml:"endpoints" json:"endpoints"`
	Cluster   string   `yaml:"cluster,omitempty" json:"cluster,omitempty"`
	Group     string   `yaml:"group,omitempty" json:"group,omitempty"`
	Acquirer  string   `yaml:"acquirer,omitempty" json:"acquirer,omitempty"`
	TLS       TLS      `yaml:"tls,omitempty" json:"tls,omitzero"`
	// TokenFile is the path of the bearer token file, relative to the context file. The token is never stored in the
	// context file.
	TokenFile string `yaml:"bearer-token-file,omitempty" json:"bearer_token_file,omitempty"`
}

// TLS holds the paths of PEM files, relative to the context file, and the server name to verify.
type TLS struct {
	CA         string `yaml:"ca,omitempty" json:"ca,omitempty"`
	Cert       string `yaml:"cert,omitempty" json:"cert,omitempty"`
	Key        string `yaml:"key,omitempty" json:"key,omitempty"`
	ServerName string `yaml:"server-name,omitempty" json:"server_name,omitempty"`
}

// Path returns the path of the context file: GK_CONFIG, or else gatekeeper/config.yaml in the user's configuration
// directory.
func Path() (string, error) {
	if p := os.Getenv("GK_CONFIG"); p != "" {
		return p, nil
	}
	dir := os.Getenv("XDG_CONFIG_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("GK_CONFIG is not set, and %w", err)
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "gatekeeper", "config.yaml"), nil
}

// Read reads a context file. A missing file is treated as an empty one.
func Read(path string) (*File, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &File{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("contexts: %w", err)
	}
	f := new(File)
	if len(bytes.TrimSpace(data)) == 0 {
		return f, nil
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(f); err != nil {
		return nil, fmt.Errorf("contexts: %s: %s", path, strings.Join(strings.Fields(err.Error()), " ")) // the YAML error spans several lines
	}
	for i, c := range f.Contexts {
		if c.Name == "" {
			return nil, fmt.Errorf("contexts: %s: context number %d has no name", path, i+1)
		}
		if slices.IndexFunc(f.Contexts, func(o Context) bool { return o.Name == c.Name }) != i {
			return nil, fmt.Errorf("contexts: %s: the context %q is defined twice", path, c.Name)
		}
	}
	return f, nil
}

// Write replaces the file atomically.
func (f *File) Write(path string) error {
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
		_ = os.Remove(t.Name()) // err already describes the failure
		return fmt.Errorf("contexts: %w", err)
	}
	return nil
}

// Find returns the named context, or nil if it does not exist.
func (f *File) Find(name string) *Context {
	if i := slices.IndexFunc(f.Contexts, func(c Context) bool { return c.Name == name }); i >= 0 {
		return &f.Contexts[i]
	}
	return nil
}
