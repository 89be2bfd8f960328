package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"sync"
	"time"
)

// A message on the socket: length of all that follows (4 bytes), kind (1), room (2), payload.
const (
	join     = 'J' // to the sidecar: where, as JSON
	say      = 'S' // to the sidecar: sound, 16 bit at sayRate
	joined   = 'j' // from the sidecar
	speaking = 's' // from the sidecar: an utterance has begun
	uttered  = 'u' // from the sidecar: an utterance, 16 bit at hearRate
)

type place struct {
	URL   string `json:"url"`
	Token string `json:"token"`
	// File of the recording tap.
	Tap string `json:"tap"`
}

type connection struct {
	mu sync.Mutex
	w  *bufio.Writer
}

func (c *connection) send(kind byte, room uint16, payload []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var head [7]byte
	binary.BigEndian.PutUint32(head[:], uint32(3+len(payload)))
	head[4] = kind
	binary.BigEndian.PutUint16(head[5:], room)
	_, _ = c.w.Write(head[:])
	_, _ = c.w.Write(payload)
	_ = c.w.Flush()
}

// Serves one Node process until it closes the socket.
func serve(socket string) error {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	peer, err := listener.Accept()
	if err != nil {
		return err
	}
	out := &connection{w: bufio.NewWriter(peer)}
	in := bufio.NewReader(peer)
	var rooms sync.Map
	go pace(&rooms)
	for {
		var head [7]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return nil
		}
		payload := make([]byte, binary.BigEndian.Uint32(head[:])-3)
		if _, err := io.ReadFull(in, payload); err != nil {
			return err
		}
		id := binary.BigEndian.Uint16(head[5:])
		switch head[4] {
		case join:
			var where place
			if err := json.Unmarshal(payload, &where); err != nil {
				return err
			}
			go func() {
				r, err := enter(where, func(kind byte, payload []byte) { out.send(kind, id, payload) })
				if err != nil {
					panic(err)
				}
				rooms.Store(id, r)
				out.send(joined, id, nil)
			}()
		case say:
			if r, ok := rooms.Load(id); ok {
				r.(*room).say(payload)
			}
		}
	}
}

// One clock for all rooms: a frame for each that has something to say.
func pace(rooms *sync.Map) {
	for range time.Tick(frame) {
		rooms.Range(func(_, r any) bool {
			r.(*room).speak()
			return true
		})
	}
}
