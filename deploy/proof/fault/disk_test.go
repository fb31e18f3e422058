package fault

import "testing"

func TestCheckExit_AcceptsOnlyDamageCodes(t *testing.T) {
	const damagedLog, otherLog = "gatekeeperd: cannot use the data directory: damaged: raft.db: page 3", "no space left on device"
	for name, tc := range map[string]struct {
		file     string
		code     int
		signaled bool
		log      string
		accepted bool
	}{
		"the log":             {file: logFile, code: 73, log: damagedLog, accepted: true},
		"a snapshot":          {file: "snapshots/2-8-1/state.bin", code: 73, log: damagedLog, accepted: true},
		"another member's id": {file: "cluster.json", code: 78, log: "belongs to member", accepted: true},
		"a log segment":       {file: logDir + "/acknowledged", code: 73, log: damagedLog, accepted: true},
		"a log segment, but the code for a foreign directory": {file: logDir + "/acknowledged", code: 78, log: damagedLog},
		"a panic":                          {file: logFile, code: 2, log: "panic: "},
		"a signal":                         {file: logFile, code: -1, signaled: true, log: "SIGBUS"},
		"success":                          {file: logFile, code: 0},
		"damage, but the code for a fault": {file: logFile, code: 70, log: damagedLog},
		"damage, but the code for a foreign directory": {file: logFile, code: 78, log: damagedLog},
		"a full disk at the same time":                 {file: logFile, code: 70, log: otherLog, accepted: true},
		"a removal at the same time":                   {file: logFile, code: 78, log: "was removed", accepted: true},
	} {
		if err := checkExit(tc.file, tc.code, !tc.signaled, tc.log); (err == nil) != tc.accepted {
			t.Errorf("%s: checkExit() = %v, want accepted = %t", name, err, tc.accepted)
		}
	}
}
