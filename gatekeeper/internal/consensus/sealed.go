package consensus

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
)

// checksumKey is what a folder's JSON objects have in addition: the start of a SHA-256 over the rest. No member has such an id. A file without it
// was written by an earlier version, which passes over it.
const checksumKey = "#checksum"

// seal is the JSON object of v, with its checksum: a digit that a disk changes is still a digit, and a server that takes it for its own states
// a folder or a cluster that nobody knows.
func seal(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	if fields[checksumKey], err = checksum(fields); err != nil {
		return nil, err
	}
	return json.MarshalIndent(fields, "", "  ")
}

// unseal reads what seal wrote into v.
func unseal(data []byte, v any) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	if stated, ok := fields[checksumKey]; ok {
		delete(fields, checksumKey)
		if sum, err := checksum(fields); err != nil || string(sum) != string(stated) {
			return errors.New("its checksum is wrong")
		}
	}
	data, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

func checksum(fields map[string]json.RawMessage) (json.RawMessage, error) {
	data, err := json.Marshal(fields) // in the order of the keys
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	return json.Marshal(hex.EncodeToString(sum[:8]))
}
