// Package websocket holds WebSocket conversations by a script, over a handshake of its own.
//
// [Check] judges a handshake (rules U7 and U8), [Host.Serve] upgrades the connection and plays a [Script] until one side
// closes, the client leaves or the server stops (rules U9 to U12 and N13). Frames are read by a library; they are written
// here, so that pings carry the text of their author and no frame follows a close.
package websocket
