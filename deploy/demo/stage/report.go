package stage

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
)

// Report is a scenario's result.
type Report struct {
	Rows       []Row    `json:"rows"`
	Tables     []Table  `json:"tables,omitempty"`
	Violations []string `json:"broken_promises"`
}

// Row is a line in the report. Figures contains the values in Text, for use by programs. Durations are in nanoseconds.
type Row struct {
	Name    string `json:"name"`
	Text    string `json:"text"`
	Figures []any  `json:"figures,omitempty"`
}

// Table is a table in the report. Its first line is the header.
type Table struct {
	Title string     `json:"title"`
	Lines [][]string `json:"lines"`
}

// Row adds a line.
func (r *Report) Row(name, format string, figures ...any) {
	r.Rows = append(r.Rows, Row{name, fmt.Sprintf(format, figures...), figures})
}

// AddViolations adds violations and returns their number.
func (r *Report) AddViolations(violations ...string) int {
	r.Violations = append(r.Violations, violations...)
	return len(violations)
}

// Violationf adds one violation.
func (r *Report) Violationf(format string, args ...any) {
	r.AddViolations(fmt.Sprintf(format, args...))
}

// Verdict returns an error that lists the violations, or nil if there are none.
func (r *Report) Verdict() error {
	const maxShown = 20
	var errs []error
	for i, what := range r.Violations {
		if i == maxShown {
			errs = append(errs, fmt.Errorf("and %d more", len(r.Violations)-maxShown))
			break
		}
		errs = append(errs, errors.New(what))
	}
	return errors.Join(errs...)
}

// print writes the report as text.
func (r *Report) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w)
	for _, row := range r.Rows {
		fmt.Fprintf(w, "%s\t%s\n", row.Name, row.Text)
	}
	fmt.Fprintf(w, "violations\t%d\n", len(r.Violations))
	_ = w.Flush()
	for _, t := range r.Tables {
		fmt.Fprintf(w, "\n%s:\n", t.Title)
		for _, line := range t.Lines {
			fmt.Fprint(w, " ")
			for i, cell := range line {
				fmt.Fprint(w, [2]string{" ", "\t"}[min(i, 1)], cell)
			}
			fmt.Fprintln(w)
		}
		_ = w.Flush()
	}
}
