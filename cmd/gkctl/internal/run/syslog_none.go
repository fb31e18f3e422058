//go:build windows || plan9

package run

// systemLog does nothing: there is no syslog.
func systemLog(string) {}
