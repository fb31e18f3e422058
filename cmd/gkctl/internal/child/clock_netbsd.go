package child

const monotonic = 3 // CLOCK_MONOTONIC, which x/sys does not name here
