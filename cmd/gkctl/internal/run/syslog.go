//go:build !windows && !plan9

package run

import "log/syslog"

// systemLog writes a line to syslog if there is one.
func systemLog(line string) {
	w, err := syslog.New(syslog.LOG_INFO|syslog.LOG_CRON, "gkctl")
	if err != nil {
		return // most containers have no syslog
	}
	_ = w.Info(line) // best effort
	_ = w.Close()
}
