#!/bin/sh
# Installs one server from the directory that contains this file. Run it as root on the server's machine, and again to renew certificates, to change the
# configuration, and to upgrade. It does not start or stop anything.
set -e
cd "$(dirname "$0")"
id gatekeeper > /dev/null 2>&1 || useradd --system --user-group --no-create-home --home-dir /var/lib/gatekeeper --shell /usr/sbin/nologin gatekeeper
install -m 0755 gatekeeperd gkctl /usr/local/bin/
install -m 0644 gatekeeperd.service /etc/systemd/system/
# The server can read its keys but not replace them.
install -d -m 0750 -o root -g gatekeeper /etc/gatekeeper
install -m 0640 -o root -g gatekeeper gatekeeperd.yaml *.crt *.key /etc/gatekeeper/
systemctl daemon-reload
