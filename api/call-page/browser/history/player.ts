/** The recording of a call: heard, and seen as the peaks of both sides, in which a click or an arrow key seeks. */
import { clockText } from '../../session/texts.ts';
import { peaksOf, secondAt } from '../../session/waveform.ts';
import { cleared } from '../shared/dom.ts';
import { elements } from './view.ts';

/** In hertz: low enough that an hour fits into memory, high enough for peaks. */
const SAMPLE_RATE = 8_000;
/** Width of a column, in pixels. */
const COLUMN = 3;
const ARROW_SECONDS = 5;

export interface Player {
  /** Plays from there. */
  seek(second: number): void;
  close(): void;
}

/** It can be heard at once, and seen once it is decoded. */
export function openPlayer(callId: string, recording: Blob): Player {
  const { player, position, waveform, download, playerPart } = elements;
  const address = URL.createObjectURL(recording);
  player.src = address;
  download.href = address;
  download.download = `${callId}.ogg`;
  playerPart.hidden = false;
  position.hidden = true;
  const closed = new AbortController();
  const { signal } = closed;
  let duration = Infinity;
  let peaks: ReturnType<typeof peaksOfWidth> | undefined;

  const show = (): void => {
    if (peaks === undefined) return;
    position.setAttribute('aria-valuemax', duration.toFixed(1));
    position.setAttribute('aria-valuenow', player.currentTime.toFixed(1));
    position.setAttribute('aria-valuetext', `${clockText(player.currentTime)} of ${clockText(duration)}`);
    draw(waveform, peaks, player.currentTime / duration);
  };
  const moveTo = (second: number): void => {
    player.currentTime = Math.min(duration, Math.max(0, second));
    show();
  };
  position.addEventListener('click', ({ offsetX }) => moveTo(secondAt(offsetX, position.clientWidth, duration)), { signal });
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
  for (const event of ['timeupdate', 'seeked']) player.addEventListener(event, show, { signal });
  const resized = new ResizeObserver(show);
  resized.observe(position);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show, { signal });
  const showPeaks = async (): Promise<void> => {
    const audio = await decode(recording);
    // By now the page may show another call.
    if (audio === undefined || signal.aborted) return;
    duration = audio.duration;
    peaks = peaksOfWidth(audio);
    position.hidden = false;
    show();
  };
  void showPeaks();
  return {
    seek(second) {
      moveTo(second);
      void player.play();
    },
    close() {
      closed.abort();
      resized.disconnect();
      player.pause();
      player.removeAttribute('src');
      URL.revokeObjectURL(address);
      playerPart.hidden = true;
    },
  };
}

/** @returns undefined where the browser can't; it may play the file all the same */
async function decode(recording: Blob): Promise<AudioBuffer | undefined> {
  try {
    return await new OfflineAudioContext(2, 1, SAMPLE_RATE).decodeAudioData(await recording.arrayBuffer());
  } catch {
    return undefined;
  }
}

type Peaks = ReturnType<typeof peaksOf>;

/** All samples are looked at for another width only, not each time that the position moves. */
function peaksOfWidth(audio: AudioBuffer): (columns: number) => Peaks {
  const channels = [0, 1].map((channel) => audio.getChannelData(Math.min(channel, audio.numberOfChannels - 1)));
  let known: { readonly columns: number; readonly peaks: Peaks } | undefined;
  return (columns) => {
    if (known?.columns !== columns) known = { columns, peaks: peaksOf(channels, columns) };
    return known.peaks;
  };
}

/** The user above, the agent below; what was played is darker. */
function draw(canvas: HTMLCanvasElement, peaksOfColumns: (columns: number) => Peaks, played: number): void {
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
