package time

import "syscall"

// Seconds by which this process's clock is ahead, from CLOCK_AHEAD_SECONDS; read once.
var aheadSeconds int64
var aheadRead bool

func clockAhead() int64 {
	if aheadRead {
		return aheadSeconds
	}
	text, _ := syscall.Getenv("CLOCK_AHEAD_SECONDS")
	var seconds int64
	for i := 0; i < len(text); i++ {
		if text[i] < '0' || text[i] > '9' {
			seconds = 0
			break
		}
		seconds = seconds*10 + int64(text[i]-'0')
	}
	aheadSeconds = seconds
	aheadRead = true
	return seconds
}
