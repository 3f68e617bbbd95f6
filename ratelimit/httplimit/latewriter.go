package httplimit

import "net/http"

// lateWriter sets header fields when the answer begins, so that those of the handler are known by then.
type lateWriter struct {
	http.ResponseWriter

	write func(http.Header)
	done  bool
}

// WriteHeader begins the answer, unless the status is an informational one.
func (w *lateWriter) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		w.finish()
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write begins the answer if nothing did before.
func (w *lateWriter) Write(body []byte) (int, error) {
	w.finish()
	return w.ResponseWriter.Write(body) //nolint:wrapcheck // It stands in for the writer.
}

// Flush begins the answer if nothing did before, and sends it as far as it goes.
func (w *lateWriter) Flush() {
	w.finish()
	_ = http.NewResponseController(w.ResponseWriter).Flush() // A writer that cannot flush has nothing to send early.
}

// Unwrap returns the writer behind this one, for http.ResponseController.
func (w *lateWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *lateWriter) finish() {
	if !w.done {
		w.done = true
		w.write(w.Header())
	}
}
