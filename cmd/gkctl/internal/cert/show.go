package cert

import (
	"crypto/x509"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	"github.com/gatekeeperd/gatekeeper/internal/authority"
)

func newShow(f *conn.Factory) *cobra.Command {
	var output ui.Output
	cmd := &cobra.Command{
		Use:   "show FILE...",
		Short: "Show the certificates in one or more files: names, uses, issuer and expiry",
		Example: `  gkctl cert show certs/*.crt
  gkctl cert show /etc/gatekeeper/server.crt -o json`,
		Args: ui.AtLeastOne("one or more certificate files"),
		RunE: func(_ *cobra.Command, args []string) error {
			l := listing()
			var items []certInfo
			for _, file := range args {
				certs, err := readCerts(file)
				if err != nil {
					return err
				}
				for _, c := range certs {
					s := describe(file, c)
					items = append(items, s)
					l.Rows = append(l.Rows, s.row())
				}
			}
			l.Object = ui.Items(items)
			return f.Print(output, l)
		},
	}
	output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func readCerts(file string) ([]*x509.Certificate, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	certs, err := authority.ParseCerts(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return certs, nil
}

// certInfo describes a certificate in the output.
type certInfo struct {
	File     string    `json:"file"`
	Key      string    `json:"key,omitempty"` // the private key's file, if one was written
	Kind     string    `json:"kind"`
	Subject  string    `json:"subject"`
	Names    []string  `json:"names"`
	Usages   []string  `json:"usages"`
	Issuer   string    `json:"issuer"`
	Serial   string    `json:"serial"`
	NotAfter time.Time `json:"not_after"`
}

func describe(file string, c *x509.Certificate) certInfo {
	s := certInfo{
		File: file, Kind: kindOf(c), Subject: c.Subject.String(), Names: append([]string{}, c.DNSNames...), Usages: []string{},
		Issuer: c.Issuer.String(), Serial: fmt.Sprintf("%x", c.SerialNumber), NotAfter: c.NotAfter,
	}
	for _, ip := range c.IPAddresses {
		s.Names = append(s.Names, ip.String())
	}
	s.Names = append(s.Names, c.EmailAddresses...)
	for _, u := range c.URIs {
		s.Names = append(s.Names, u.String())
	}
	for _, u := range []struct {
		usage x509.ExtKeyUsage
		text  string
	}{{x509.ExtKeyUsageServerAuth, "serverAuth"}, {x509.ExtKeyUsageClientAuth, "clientAuth"}} {
		if slices.Contains(c.ExtKeyUsage, u.usage) {
			s.Usages = append(s.Usages, u.text)
		}
	}
	return s
}

// kindOf derives a certificate's kind from its key usages.
func kindOf(c *x509.Certificate) string {
	server, client := slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageServerAuth), slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageClientAuth)
	switch {
	case c.IsCA:
		return "authority"
	case server && client:
		return "peer"
	case server:
		return "server"
	case client:
		return "client"
	}
	return "other"
}

func listing() ui.Listing {
	return ui.Listing{Headers: []string{"FILE", "KIND", "SUBJECT", "NAMES", "EXPIRES"}}
}

func (s *certInfo) row() ui.Row {
	expires := s.NotAfter.Local().Format(time.DateTime)
	switch left := time.Until(s.NotAfter); {
	case left <= 0:
		expires += ", expired"
	case left < authority.ExpiryWarning:
		expires += ", in " + words.Brief(left)
	}
	return ui.Row{Name: s.File, Cells: []string{s.File, s.Kind, s.Subject, strings.Join(s.Names, ","), expires}}
}
