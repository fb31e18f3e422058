package ui

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
)

// IO contains a command's streams.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	// InTTY and ErrTTY report whether In and Err are terminals.
	InTTY, ErrTTY bool
}

// New returns the IO for three files, each of which may be a terminal.
func New(in, out, err *os.File) *IO {
	return &IO{In: in, Out: out, Err: err, InTTY: isTerminal(in), ErrTTY: isTerminal(err)}
}

// isTerminal reports whether f is a character device, usually a terminal. It also returns true for /dev/null, which is
// harmless.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Logf writes a line for the user to standard error.
func (s *IO) Logf(format string, args ...any) { fmt.Fprintf(s.Err, format+"\n", args...) }

// Progress reports the start of a long operation if standard error is a terminal. done appends how long it took.
func (s *IO) Progress(format string, args ...any) (done func()) {
	if !s.ErrTTY {
		return func() {}
	}
	text := fmt.Sprintf(format, args...)
	fmt.Fprint(s.Err, text)
	start := time.Now()
	return func() {
		fmt.Fprintf(s.Err, "\r%s %s\n", text, time.Since(start).Round(time.Millisecond))
	}
}

// PrintNames prints one name per line.
func (s *IO) PrintNames(names []string) error {
	for _, n := range names {
		fmt.Fprintln(s.Out, n)
	}
	return nil
}

// Confirm asks for confirmation on a terminal. Without a terminal, or if the answer is not yes, it returns an
// *UnconfirmedError. about describes the change. declined is the error message if the answer is no.
func (s *IO) Confirm(ctx context.Context, about, question, declined string) error {
	if !s.InTTY || !s.ErrTTY {
		return &UnconfirmedError{Usagef("%s; pass --yes to confirm", about)}
	}
	fmt.Fprintf(s.Err, "%s\n%s [y/N] ", about, question)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(s.In).ReadString('\n') // end of file means no
		answer <- line
	}()
	select {
	case line := <-answer:
		if word := strings.ToLower(strings.TrimSpace(line)); word == "y" || word == "yes" {
			return nil
		}
		return &UnconfirmedError{&CodeError{Code: ExitFailure, Err: fmt.Errorf("%s", declined)}}
	case <-ctx.Done(): // interrupted while waiting for an answer
		fmt.Fprintln(s.Err)
		return ctx.Err()
	}
}

// Output formats.
const (
	Table = "table"
	Wide  = "wide"
	JSON  = "json"
	YAML  = "yaml"
	Name  = "name"
)

// Output is the value of -o.
type Output struct {
	format    string
	noHeaders bool
	Formats   []string
}

// Register adds the -o flag with the formats that a command supports. The first format is the default.
func (o *Output) Register(cmd *cobra.Command, formats ...string) {
	o.Formats = formats
	cmd.Flags().VarP(o, "output", "o", "format: "+strings.Join(formats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)) // fails only if there is no such flag
	if slices.Contains(formats, Wide) {
		cmd.Flags().BoolVar(&o.noHeaders, "no-headers", false, "omit table headers")
	}
}

// String returns the format in effect.
func (o *Output) String() string {
	if o.format == "" && len(o.Formats) > 0 {
		return o.Formats[0]
	}
	return o.format
}

// Set validates and stores the flag's value.
func (o *Output) Set(s string) error {
	if !slices.Contains(o.Formats, s) {
		return fmt.Errorf("must be one of %s", strings.Join(o.Formats, ", "))
	}
	o.format = s
	return nil
}

// Type returns the placeholder for the value in the help text.
func (o *Output) Type() string { return "FORMAT" }

// Is reports whether format is the format in effect.
func (o *Output) Is(format string) bool { return o.String() == format }

// Row is a table row.
type Row struct {
	Name  string // the output of -o name
	Cells []string
	More  []string // additional cells for -o wide
}

// Listing is a list that can be printed in any format.
type Listing struct {
	Headers, More []string
	Rows          []Row
	// Object is the output of -o json and -o yaml. It is a proto.Message, Items, or anything that encoding/json can
	// encode.
	Object any
	// Empty is the message to print if there are no rows.
	Empty string
}

// Items wraps a list for JSON and YAML: {"items": [...]}.
func Items[T any](list []T) any {
	return struct {
		Items []T `json:"items"`
	}{list}
}

// Message wraps an API message for use in gkctl's own JSON objects. With the tag omitzero, a nil message is omitted.
type Message struct{ proto.Message }

// MarshalJSON implements json.Marshaler using MessageJSON.
func (m Message) MarshalJSON() ([]byte, error) { return MessageJSON(m.Message) }

// Messages wraps a list of messages. An empty list becomes [], not null.
func Messages[M proto.Message](list []M) []Message {
	return words.Map(list, func(m M) Message { return Message{m} })
}

// MessageJSON returns a message as protobuf JSON with the API's field names. As always in protobuf JSON, 64-bit numbers
// are strings.
func MessageJSON(m proto.Message) ([]byte, error) {
	data, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Compact(&b, data) // protojson's white space differs between builds
	return b.Bytes(), err
}

// Joined returns a JSON object with the fields of both m and more.
func Joined(m proto.Message, more any) (json.RawMessage, error) {
	data, err := MessageJSON(m)
	if err != nil {
		return nil, err
	}
	added, err := json.Marshal(more)
	if err != nil {
		return nil, err
	}
	if len(data) > len("{}") && len(added) > len("{}") {
		return append(append(data[:len(data)-1], ','), added[1:]...), nil
	}
	if len(data) > len("{}") {
		return data, nil
	}
	return added, nil
}

// ToJSON returns an object as JSON on one line.
func ToJSON(object any) ([]byte, error) {
	if m, ok := object.(proto.Message); ok {
		return MessageJSON(m)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(object)
	return bytes.TrimSpace(b.Bytes()), err
}

// toYAML converts JSON to block-style YAML and preserves the order of fields.
func toYAML(data []byte) ([]byte, error) {
	var n yaml.Node
	if err := yaml.Unmarshal(data, &n); err != nil {
		return nil, err
	}
	clearStyle(&n)
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(&n); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}

// clearStyle removes JSON's flow style and quotes. The encoder adds quotes where they are needed.
func clearStyle(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode || len(n.Content) > 0 {
		n.Style = 0
	}
	for _, c := range n.Content {
		clearStyle(c)
	}
}

// Print prints a listing.
func (s *IO) Print(o Output, l Listing) error {
	switch o.String() {
	case JSON, YAML:
		return s.PrintObject(o, l.Object)
	case Name:
		return s.PrintNames(words.Map(l.Rows, func(r Row) string { return r.Name }))
	}
	if len(l.Rows) == 0 {
		if l.Empty != "" {
			s.Logf("%s", l.Empty)
		}
		return nil
	}
	w := tabwriter.NewWriter(s.Out, 0, 8, 2, ' ', 0)
	line := func(cells, more []string) {
		if o.Is(Wide) {
			cells = append(slices.Clone(cells), more...)
		}
		cells = words.Map(cells, words.Cell)
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	if !o.noHeaders {
		line(l.Headers, l.More)
	}
	for _, r := range l.Rows {
		line(r.Cells, r.More)
	}
	return w.Flush()
}

// PrintAs prints an object, or just the names with -o name. It does not print tables.
func (s *IO) PrintAs(o Output, object any, names []string) error {
	if o.Is(Name) {
		return s.PrintNames(names)
	}
	return s.PrintObject(o, object)
}

// PrintObject prints an object as JSON or YAML.
func (s *IO) PrintObject(o Output, object any) error {
	data, err := ToJSON(object)
	if err != nil {
		return err
	}
	if o.Is(YAML) {
		if data, err = toYAML(data); err != nil {
			return err
		}
		_, err = s.Out.Write(data)
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = s.Out.Write(b.Bytes())
	return err
}
