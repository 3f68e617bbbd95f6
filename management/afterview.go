package management

import (
	"github.com/mockbase/mockbase"
)

// messageView is a message of a WebSocket conversation (rule M-63).
type messageView struct {
	At   string `json:"at"`
	Sent bool   `json:"sent"`
	Kind string `json:"kind"`
	bodyView

	Code    int  `json:"code,omitempty"`
	Ignored bool `json:"ignored"`
}

// webhookView is a call that follows an answer, as far as it is (rule M-63).
type webhookView struct {
	ID       string                `json:"id"`
	Name     string                `json:"name,omitempty"`
	State    mockbase.WebhookState `json:"state"`
	Method   string                `json:"method"`
	URL      string                `json:"url"`
	Attempts []attemptView         `json:"attempts"`
	Error    string                `json:"error,omitempty"`
}

type attemptView struct {
	Number     int     `json:"number"`
	At         string  `json:"at"`
	DurationMs float64 `json:"durationMs"`
	Status     int     `json:"status,omitempty"`
	bodyView

	Error string `json:"error,omitempty"`
}

func showMessage(m *mockbase.RecordedMessage) messageView {
	return messageView{
		At: timeText(m.At), Sent: m.Sent, Kind: m.Kind, bodyView: showBody(m.Data, int64(len(m.Data))), Code: m.Code, Ignored: m.Ignored,
	}
}

func showWebhook(w *mockbase.RecordedWebhook) webhookView {
	v := webhookView{
		ID: w.ID, Name: w.Name, State: w.State, Method: w.Method, URL: w.URL, Error: w.Error, Attempts: make([]attemptView, len(w.Attempts)),
	}
	for i := range w.Attempts {
		a := &w.Attempts[i]
		v.Attempts[i] = attemptView{
			Number: a.Number, At: timeText(a.At), DurationMs: milliseconds(a.Duration), Status: a.Status,
			bodyView: showBody(a.Body, int64(len(a.Body))), Error: a.Error,
		}
	}
	return v
}
