package redisstore

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"
)

// RedirectClientLog sends what go-redis logs to a logger, at level DEBUG; a nil logger drops it. By itself the library
// writes to standard error, among other things a line for each connection that it cannot make.
//
// The library has one log for the whole process, so that this function changes a state outside this package. It belongs
// in a program's start, is called once, and is called by nothing in this package. What a limiter's operator needs to know
// is said by [Store] and by ratelimit.Limiter, not by the library.
func RedirectClientLog(logger *slog.Logger) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	redis.SetLogger(clientLog{logger: logger})
}

// clientLog is the library's idea of a logger.
type clientLog struct{ logger *slog.Logger }

// Printf writes one line of the library.
func (l clientLog) Printf(ctx context.Context, format string, v ...any) {
	if !l.logger.Enabled(ctx, slog.LevelDebug) {
		return
	}
	l.logger.DebugContext(ctx, "redis client", "text", fmt.Sprintf(format, v...))
}
