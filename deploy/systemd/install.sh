#!/bin/sh
# Installs one server from the folder of this file: as root, on its machine. It is run again to renew certificates, to change the configuration, and
# to upgrade. Nothing is started or stopped.
set -e
cd "$(dirname "$0")"
id gatekeeper > /dev/null 2>&1 || useradd --system --user-group --no-create-home --home-dir /var/lib/gatekeeper --shell /usr/sbin/nologin gatekeeper
install -m 0755 gatekeeperd gkctl /usr/local/bin/
install -m 0644 gatekeeperd.service /etc/systemd/system/
# The server reads its keys, and cannot replace them.
install -d -m 0750 -o root -g gatekeeper /etc/gatekeeper
install -m 0640 -o root -g gatekeeper gatekeeperd.yaml *.crt *.key /etc/gatekeeper/
systemctl daemon-reload
