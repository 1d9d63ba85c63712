package trust

// noWait has no meaning here: no file is a pipe.
const noWait = 0
