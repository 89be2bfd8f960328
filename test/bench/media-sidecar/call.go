package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	media "github.com/livekit/media-sdk"
	"github.com/livekit/media-sdk/opus"
	"github.com/livekit/protocol/logger"
	lksdk "github.com/livekit/server-sdk-go/v2"
	"github.com/pion/webrtc/v4"
	pion "github.com/pion/webrtc/v4/pkg/media"
)

const (
	// Each caller says something of this length, and then listens.
	speech = 1500 * time.Millisecond
	period = 5 * time.Second
	// Opus frames of sound are longer, those of silence shorter. In bytes.
	silentFrame = 16
	// What the media server itself sends where a track is silent.
	serverFrame = 80
)

// Callers cost little: what they say is encoded once for all. When they are asked to end they report how many frames of sound they have heard.
func call(in io.Reader, out io.Writer) error {
	var places []place
	if err := json.NewDecoder(in).Decode(&places); err != nil {
		return err
	}
	frames, err := encoded()
	if err != nil {
		return err
	}
	var heard atomic.Int64
	tracks := make([]*webrtc.TrackLocalStaticSample, len(places))
	for at, where := range places {
		if tracks[at], err = joinAsCaller(where, &heard); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, "ready")
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	ticker := time.NewTicker(frame)
	for count := 0; ; count++ {
		select {
		case <-ended:
			return json.NewEncoder(out).Encode(map[string]int64{"frames": heard.Load()})
		case <-ticker.C:
			for at, track := range tracks {
				// Not all at the same time.
				next := frames[(count+at*len(frames)/len(tracks))%len(frames)]
				_ = track.WriteSample(pion.Sample{Data: next, Duration: frame})
			}
		}
	}
}

func joinAsCaller(where place, heard *atomic.Int64) (*webrtc.TrackLocalStaticSample, error) {
	track, err := webrtc.NewTrackLocalStaticSample(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus}, "user", "user")
	if err != nil {
		return nil, err
	}
	count := func(track *webrtc.TrackRemote, _ *lksdk.RemoteTrackPublication, _ *lksdk.RemoteParticipant) {
		for {
			packet, _, err := track.ReadRTP()
			if err != nil {
				return
			}
			if size := len(packet.Payload); size > silentFrame && size != serverFrame {
				heard.Add(1)
			}
		}
	}
	room, err := lksdk.ConnectToRoomWithToken(where.URL, where.Token, &lksdk.RoomCallback{
		ParticipantCallback: lksdk.ParticipantCallback{
			OnTrackSubscribed: func(t *webrtc.TrackRemote, p *lksdk.RemoteTrackPublication, rp *lksdk.RemoteParticipant) {
				go count(t, p, rp)
			},
		},
	})
	if err != nil {
		return nil, err
	}
	_, err = room.LocalParticipant.PublishTrack(track, &lksdk.TrackPublicationOptions{Name: "user"})
	return track, err
}

// What a caller says in one period, in Opus frames.
func encoded() ([]opus.Sample, error) {
	collected := &collector{}
	encoder, err := opus.Encode(collected, 1, logger.GetLogger())
	if err != nil {
		return nil, err
	}
	const samples = int(48_000 * frame / time.Second)
	for at := range int(period / frame) {
		sound := make(media.PCM16Sample, samples)
		if time.Duration(at)*frame < speech {
			for n := range sound {
				t := float64(at*samples+n) / 48_000
				sound[n] = int16(6_000 * math.Sin(2*math.Pi*180*t) * (1 + math.Sin(2*math.Pi*4*t)))
			}
		}
		if err := encoder.WriteSample(sound); err != nil {
			return nil, err
		}
	}
	return collected.frames, nil
}

type collector struct{ frames []opus.Sample }

func (c *collector) String() string  { return "collector" }
func (c *collector) SampleRate() int { return 48_000 }
func (c *collector) Close() error    { return nil }
func (c *collector) WriteSample(frame opus.Sample) error {
	c.frames = append(c.frames, append(opus.Sample(nil), frame...))
	return nil
}
