// Package auth has the commands for access: auth whoami, can-i, roles, list, bind and unbind, and auth token create,
// list and revoke. The servers decide. These commands show and change the bindings on which they base their decisions.
package auth
