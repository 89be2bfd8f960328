package main

import (
	"bufio"
	"encoding/binary"
	"os"
	"sync"
	"time"

	media "github.com/livekit/media-sdk"
	"github.com/livekit/media-sdk/opus"
	"github.com/livekit/protocol/logger"
	lksdk "github.com/livekit/server-sdk-go/v2"
	lkmedia "github.com/livekit/server-sdk-go/v2/pkg/media"
	"github.com/pion/webrtc/v4"
)

const (
	frame    = 20 * time.Millisecond
	hearRate = 16_000
	sayRate  = 24_000
	// Samples of sound, mean of their absolute values.
	loud = 300
	// Of silence after speech, in samples at hearRate.
	pause = hearRate * 3 / 10
)

// A room that the sidecar is in: Opus, jitter buffer, pacing, VAD by energy, and the recording tap.
type room struct {
	emit    func(kind byte, payload []byte)
	tap     *bufio.Writer
	encoder media.PCM16Writer

	mu    sync.Mutex
	queue []int16

	// Of the user, only touched by the goroutine of its track.
	utterance []byte
	silence   int
}

func enter(where place, emit func(kind byte, payload []byte)) (*room, error) {
	file, err := os.Create(where.Tap)
	if err != nil {
		return nil, err
	}
	r := &room{emit: emit, tap: bufio.NewWriterSize(file, 64<<10)}
	track, err := webrtc.NewTrackLocalStaticSample(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus}, "agent", "agent")
	if err != nil {
		return nil, err
	}
	r.encoder, err = opus.Encode(media.FromSampleWriter[opus.Sample](track, sayRate, frame), 1, logger.GetLogger())
	if err != nil {
		return nil, err
	}
	heard := func(track *webrtc.TrackRemote, _ *lksdk.RemoteTrackPublication, _ *lksdk.RemoteParticipant) {
		if _, err := lkmedia.NewPCMRemoteTrack(track, r, lkmedia.WithTargetSampleRate(hearRate)); err != nil {
			panic(err)
		}
	}
	entered, err := lksdk.ConnectToRoomWithToken(where.URL, where.Token, &lksdk.RoomCallback{
		ParticipantCallback: lksdk.ParticipantCallback{OnTrackSubscribed: heard},
	})
	if err != nil {
		return nil, err
	}
	_, err = entered.LocalParticipant.PublishTrack(track, &lksdk.TrackPublicationOptions{Name: "agent"})
	return r, err
}

func (r *room) say(pcm []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for at := 0; at+1 < len(pcm); at += 2 {
		r.queue = append(r.queue, int16(binary.LittleEndian.Uint16(pcm[at:])))
	}
}

// Sends the next frame, if there is one.
func (r *room) speak() {
	const samples = int(sayRate * frame / time.Second)
	r.mu.Lock()
	if len(r.queue) < samples {
		r.mu.Unlock()
		return
	}
	next := r.queue[:samples]
	r.queue = r.queue[samples:]
	r.mu.Unlock()
	_ = r.encoder.WriteSample(next)
	_ = binary.Write(r.tap, binary.LittleEndian, next)
}

// WriteSample takes what the user says, decoded.
func (r *room) WriteSample(samples media.PCM16Sample) error {
	bytes := make([]byte, 2*len(samples))
	sum := 0
	for at, sample := range samples {
		binary.LittleEndian.PutUint16(bytes[2*at:], uint16(sample))
		sum += max(int(sample), -int(sample))
	}
	_, _ = r.tap.Write(bytes)
	isLoud := sum > loud*len(samples)
	if isLoud && len(r.utterance) == 0 {
		r.emit(speaking, nil)
	}
	if !isLoud && len(r.utterance) == 0 {
		return nil
	}
	r.utterance = append(r.utterance, bytes...)
	if isLoud {
		r.silence = 0
		return nil
	}
	r.silence += len(samples)
	if r.silence >= pause {
		r.emit(uttered, r.utterance)
		r.utterance, r.silence = nil, 0
	}
	return nil
}

// Close ends the track of the user.
func (r *room) Close() error { return r.tap.Flush() }
