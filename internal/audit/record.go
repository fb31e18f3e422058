package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/crc32"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Decision is the outcome of a call.
type Decision string

// The decisions.
const (
	// Allowed means that the call changed something.
	Allowed Decision = "allowed"
	// Refused means that the call was not permitted and changed nothing.
	Refused Decision = "refused"
	// Failed means that the call was permitted but returned an error.
	Failed Decision = "failed"
)

// Record is the content of a line about a call. Write truncates strings and lists that are too long, and does not
// retain the caller's memory.
type Record struct {
	// Time is the time of the decision. The zero value means the time of Write.
	Time time.Time
	// Principal is the name of the binding. It is empty if there is none.
	Principal string
	// Subjects are the identities established by the caller's credentials.
	Subjects []string
	// Author is the author claimed by the caller.
	Author string
	// Source is the caller's address, even if a member forwarded the call.
	Source string
	// Via is the member that forwarded the call. It is empty if the call arrived directly.
	Via string
	// Method is the full name of the RPC, or the route.
	Method    string
	RequestID string
	Decision  Decision
	// Reason is the reason in ErrorInfo, or the missing role.
	Reason string
	// About names the semaphores or other objects that the call concerns.
	About []string
	// Times is the number of identical calls that the line represents. Both 0 and 1 mean one call.
	Times uint64
}

const (
	maxText     = 256 // maximum length of a string, in bytes
	maxSubjects = 8
	maxAbout    = 32
	maxTorn     = 4096 // maximum number of bytes kept from a torn line
	// maxLine exceeds the size of a line with strings of maximum length in which every byte is escaped.
	maxLine = 256 << 10
)

// bounded returns a copy of the record that is safe to retain and to write.
func (r Record) bounded() entry {
	e := entry{Record: r}
	for _, text := range []*string{&e.Principal, &e.Author, &e.Source, &e.Via, &e.Method, &e.RequestID, (*string)(&e.Decision), &e.Reason} {
		*text = clean(*text, maxText)
	}
	e.Subjects, e.subjectsMore = cleanAll(r.Subjects, maxSubjects)
	e.About, e.aboutMore = cleanAll(r.About, maxAbout)
	return e
}

// entry is a bounded record plus the number of items dropped from each list, or a line written by the log itself.
type entry struct {
	Record
	subjectsMore, aboutMore int
	event                   string
	torn                    string
	tornBytes               int64
}

func cleanAll(list []string, limit int) (kept []string, more int) {
	kept = slices.Clone(list[:min(limit, len(list))])
	for i := range kept {
		kept[i] = clean(kept[i], maxText)
	}
	return kept, len(list) - len(kept)
}

// clean truncates a string and replaces unprintable characters. ASCII control characters are kept, because JSON escapes
// them.
func clean(s string, limit int) string {
	if len(s) > limit {
		for limit > 0 && !utf8.RuneStart(s[limit]) {
			limit--
		}
		s = strings.Clone(s[:limit]) + "…"
	}
	return strings.Map(func(r rune) rune {
		if r >= ' ' && !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// line is a line in the log, with its fields in output order.
type line struct {
	Seq  uint64 `json:"seq"`
	Time string `json:"time"`
	// Event is eventStarted or eventStopped in a line written by the log itself. It is empty for a call.
	Event        string   `json:"event,omitempty"`
	Server       string   `json:"server"`
	Cluster      string   `json:"cluster"`
	Principal    string   `json:"principal,omitempty"`
	Subjects     []string `json:"subjects,omitempty"`
	SubjectsMore int      `json:"subjects_more,omitempty"`
	Author       string   `json:"author,omitempty"`
	Source       string   `json:"source,omitempty"`
	Via          string   `json:"via,omitempty"`
	Method       string   `json:"method,omitempty"`
	RequestID    string   `json:"request_id,omitempty"`
	Decision     Decision `json:"decision,omitempty"`
	Reason       string   `json:"reason,omitempty"`
	About        []string `json:"about,omitempty"`
	AboutMore    int      `json:"about_more,omitempty"`
	Times        uint64   `json:"times,omitempty"`
	// Lost is the number of lines before this one that could not be written.
	Lost      uint64 `json:"lost,omitempty"`
	Torn      string `json:"torn,omitempty"`
	TornBytes int64  `json:"torn_bytes,omitempty"`
	Prev      string `json:"prev"`
}

const (
	eventStarted = "started"
	eventStopped = "stopped"

	timeLayout = "2006-01-02T15:04:05.000000000Z"
)

func (e *entry) line(server, cluster string) line {
	l := line{
		Time: e.Time.UTC().Format(timeLayout), Event: e.event, Server: server, Cluster: cluster,
		Principal: e.Principal, Subjects: e.Subjects, SubjectsMore: e.subjectsMore, Author: e.Author, Source: e.Source, Via: e.Via,
		Method: e.Method, RequestID: e.RequestID, Decision: e.Decision, Reason: e.Reason, About: e.About, AboutMore: e.aboutMore,
		Torn: e.torn, TornBytes: e.tornBytes,
	}
	if e.Times > 1 {
		l.Times = e.Times
	}
	return l
}

// A line ends with the checksum of everything before it: ,"crc":"01234567"}
const (
	crcPrefix = `,"crc":"`
	crcSuffix = `"}`
	crcLen    = len(crcPrefix) + 8 + len(crcSuffix)
)

func checksum(text []byte) string {
	sum := crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli))
	return crcPrefix + hex.EncodeToString(binary.BigEndian.AppendUint32(nil, sum)) + crcSuffix
}

// appendTo appends the line with its newline to b, and returns its hash.
func (l *line) appendTo(b *bytes.Buffer) string {
	start := b.Len()
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(l) // encoding strings and numbers in memory cannot fail
	b.Truncate(b.Len() - len("}\n"))
	b.WriteString(checksum(b.Bytes()[start:]))
	hash := hashOf(b.Bytes()[start:])
	b.WriteByte('\n')
	return hash
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// complete reports whether text is a complete line, without its newline, with a valid checksum.
func complete(text []byte) bool {
	at := len(text) - crcLen
	return at > 0 && string(text[at:]) == checksum(text[:at])
}

// parse parses a line without its newline.
func parse(text []byte) (*line, error) {
	if len(text) == 0 {
		return nil, errors.New("it is empty")
	}
	if !complete(text) {
		return nil, errors.New("its checksum is wrong")
	}
	text = append(slices.Clone(text[:len(text)-crcLen]), '}')
	l := new(line)
	if err := json.Unmarshal(text, l); err != nil {
		return nil, err
	}
	if l.Seq == 0 {
		return nil, errors.New("it has no number")
	}
	return l, nil
}
