/** Plays the recording of a call, and draws the peaks of both sides, in which a click or an arrow key seeks. */
import { clockText } from '../../session/texts.ts';
import { peaksOf, secondAt } from '../../session/waveform.ts';
import { cleared, element } from './dom.ts';

const elements = {
  note: element('recording-note', HTMLElement),
  part: element('player-part', HTMLElement),
  position: element('position', HTMLElement),
  waveform: element('waveform', HTMLCanvasElement),
  play: element('play', HTMLButtonElement),
  played: element('played', HTMLElement),
  download: element('download', HTMLAnchorElement),
  player: element('player', HTMLAudioElement),
};

/** Hertz. An hour still fits into memory, and the peaks are still exact enough. */
const SAMPLE_RATE = 8_000;
/** Width of a drawn column, in pixels. */
const COLUMN = 3;
const ARROW_SECONDS = 5;
/** Both lanes are drawn without peaks until the recording is decoded. */
const SILENCE = new Float32Array(0);

export interface Player {
  /** Plays from this second on. */
  seek(second: number): void;
  close(): void;
}

/** Says why there is no recording, or not yet. */
export function showRecordingNote(text: string): void {
  elements.note.textContent = text;
}

/** Opens a player that can be heard at once; it draws the peaks once the recording is decoded. */
export function openPlayer(callId: string, recording: Blob): Player {
  const { player, position, waveform, play, played, download, part } = elements;
  const address = URL.createObjectURL(recording);
  player.src = address;
  download.href = address;
  download.download = `${callId}.ogg`;
  part.hidden = false;
  const closed = new AbortController();
  const { signal } = closed;
  let peaks: PeaksOfWidth = (columns) => peaksOf([SILENCE, SILENCE], columns);

  const duration = (): number => (Number.isFinite(player.duration) ? player.duration : 0);
  const show = (): void => {
    const { currentTime, paused } = player;
    play.textContent = paused ? 'Play' : 'Pause';
    const time = `${clockText(currentTime)} of ${clockText(duration())}`;
    played.textContent = time;
    position.setAttribute('aria-valuemax', duration().toFixed(1));
    position.setAttribute('aria-valuenow', currentTime.toFixed(1));
    position.setAttribute('aria-valuetext', time);
    draw(waveform, peaks, currentTime / (duration() || 1));
  };
  const moveTo = (second: number): void => {
    player.currentTime = Math.min(duration(), Math.max(0, second));
    show();
  };
  // A pause may come first; the button says whether it plays.
  const start = (): void => void player.play().catch(() => undefined);
  position.addEventListener('click', ({ offsetX }) => moveTo(secondAt(offsetX, position.clientWidth, duration())), { signal });
  position.addEventListener(
    'keydown',
    (event) => {
      const direction = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
      if (direction === 0) return;
      event.preventDefault();
      moveTo(player.currentTime + direction * ARROW_SECONDS);
    },
    { signal },
  );
  play.addEventListener('click', () => (player.paused ? start() : player.pause()), { signal });
  for (const event of ['loadedmetadata', 'timeupdate', 'seeked', 'play', 'pause']) player.addEventListener(event, show, { signal });
  const resized = new ResizeObserver(show);
  resized.observe(position);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show, { signal });
  const showPeaks = async (): Promise<void> => {
    const audio = await decode(recording);
    // By now the page may show another call.
    if (audio === undefined || signal.aborted) return;
    peaks = peaksOfWidth(audio);
    show();
  };
  void showPeaks();
  return {
    seek(second) {
      moveTo(second);
      start();
    },
    close() {
      closed.abort();
      resized.disconnect();
      player.pause();
      player.removeAttribute('src');
      URL.revokeObjectURL(address);
      part.hidden = true;
    },
  };
}

/** @returns undefined where the browser can't decode the file; it may play it all the same */
async function decode(recording: Blob): Promise<AudioBuffer | undefined> {
  try {
    return await new OfflineAudioContext(2, 1, SAMPLE_RATE).decodeAudioData(await recording.arrayBuffer());
  } catch {
    return undefined;
  }
}

type Peaks = ReturnType<typeof peaksOf>;
type PeaksOfWidth = (columns: number) => Peaks;

/** Caches the peaks of one width: all samples are looked at when the width changes, not each time that the position moves. */
function peaksOfWidth(audio: AudioBuffer): PeaksOfWidth {
  const channels = [0, 1].map((channel) => audio.getChannelData(Math.min(channel, audio.numberOfChannels - 1)));
  let known: { readonly columns: number; readonly peaks: Peaks } | undefined;
  return (columns) => {
    if (known?.columns !== columns) known = { columns, peaks: peaksOf(channels, columns) };
    return known.peaks;
  };
}

/** Draws the user above, the agent below, and what was played darker. */
function draw(canvas: HTMLCanvasElement, peaksOfColumns: PeaksOfWidth, played: number): void {
  const { context, width, height } = cleared(canvas);
  if (context === null) return;
  const style = getComputedStyle(canvas);
  const columns = Math.floor(width / COLUMN);
  const lane = height / 2;
  for (const [channel, peaks] of peaksOfColumns(columns).entries()) {
    context.fillStyle = style.getPropertyValue(channel === 0 ? '--good' : '--accent');
    for (const [column, peak] of peaks.entries()) {
      const bar = Math.max(1, peak * (lane - 4));
      context.globalAlpha = column / columns < played ? 1 : 0.5;
      context.fillRect(column * COLUMN, lane * (channel + 0.5) - bar / 2, COLUMN - 1, bar);
    }
  }
  context.globalAlpha = 1;
  context.fillStyle = style.getPropertyValue('--ink');
  context.fillRect(Math.min(width - 1, played * width), 0, 1, height);
}
