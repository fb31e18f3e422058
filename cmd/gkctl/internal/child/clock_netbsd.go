package child

const monotonic = 3 // CLOCK_MONOTONIC, for which x/sys has no constant on NetBSD
