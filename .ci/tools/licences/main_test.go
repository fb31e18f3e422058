package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLicences_AcceptsOnlyAllowed(t *testing.T) {
	apache, err := os.ReadFile("../../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	const isc = `Copyright (c) 2026 A. Person

Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that the above
copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF
MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES
WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR
IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.
`
	for name, c := range map[string]struct {
		files map[string]string
		want  string // the ids, or part of the error
	}{
		"one licence":            {map[string]string{"LICENSE": isc}, "ISC"},
		"different file name":    {map[string]string{"COPYING.txt": isc}, "ISC"},
		"two licences":           {map[string]string{"LICENSE": isc, "used/LICENSE.md": string(apache)}, "Apache-2.0 ISC"},
		"in an unlinked package": {map[string]string{"LICENSE": isc, "other/LICENSE": "All rights reserved."}, "ISC"},
		"no licence":             {map[string]string{"README": isc}, "no licence file"},
		"only in a package":      {map[string]string{"used/LICENSE": isc}, "no licence file"},
		"unknown licence":        {map[string]string{"LICENSE": "You may use this on Sundays."}, "not a known licence"},
		"additional terms":       {map[string]string{"LICENSE": isc + strings.Repeat("It must not be used for profit in any way. ", 40)}, "not a known licence"},
		"not allowed":            {map[string]string{"LICENSE": agpl}, "AGPL-3.0-only is not allowed"},
		"not allowed, nested":    {map[string]string{"LICENSE": isc, "used/LICENSE": agpl}, "AGPL-3.0-only is not allowed"},
		"source file":            {map[string]string{"LICENSE": isc, "used/license.go": "package used"}, "ISC"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range c.files {
				path := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.MkdirAll(filepath.Join(dir, "used"), 0o700); err != nil {
				t.Fatal(err)
			}
			m := &module{Path: "example.com/m", Dir: dir, packages: []string{filepath.Join(dir, "used")}}
			ids, err := m.licences()
			got := strings.Join(ids, " ")
			if err != nil {
				got = err.Error()
			}
			if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
				t.Errorf("licences() = %s, want %s", got, c.want)
			}
		})
	}
}

// agpl is the standard notice for files under the AGPL.
const agpl = `This program is free software: you can redistribute it and/or modify it under the terms of the GNU Affero General Public License as published
by the Free Software Foundation, version 3.

This program is distributed in the hope that it will be useful, but WITHOUT ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or
FITNESS FOR A PARTICULAR PURPOSE. See the GNU Affero General Public License for more details.

You should have received a copy of the GNU Affero General Public License along with this program. If not, see <https://www.gnu.org/licenses/>.
`
