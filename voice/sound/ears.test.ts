import { describe, expect, it } from 'vitest';

import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import type { EarEvent } from '../conversation/ports.ts';
import type { RecognitionEvent } from '../providers/stt/recognition.ts';
import { CallEars } from './ears.ts';
import { HEARD_SAMPLES } from './turn-detector.ts';
import { WINDOW_MS } from './voice-activity.ts';

const WINDOW = 512;
/** Sample on which the model of voice activity fails. */
const BROKEN = 13;

/** Builds ears, and a user whose windows say by their samples whether there is speech. */
function someEars({
  detects,
  slow = false,
  byRequest = false,
}: { readonly detects?: (sound: Int16Array) => number | undefined; readonly slow?: boolean; readonly byRequest?: boolean } = {}) {
  const clock = new FakeClock();
  const events: EarEvent[] = [];
  const failures: unknown[] = [];
  const told: string[] = [];
  let recognizes = false;
  let tell: (event: RecognitionEvent) => void = () => undefined;
  const looks: (() => void)[] = [];
  const ears = new CallEars({
    settings: { shortestMs: 50, longMs: 500, pauseMs: 250 },
    model: {
      predict: async ([first]) => {
        if (slow) await new Promise<void>((resolve) => void looks.push(resolve));
        if (first === BROKEN) throw new Error('no such tensor');
        return first === 0 ? 0 : 1;
      },
    },
    recognizer: {
      listen(onEvent) {
        tell = onEvent;
        return {
          push: () => undefined,
          speaks: (unreadMs) => void told.push(`speaks ${unreadMs}`),
          pauses: () => void told.push('pauses'),
          byRequest,
          get recognizes() {
            return recognizes;
          },
          close: () => void told.push('close'),
        };
      },
    },
    turnDetector: detects && { delayMs: async (sound) => detects(sound) },
    clock,
    report: (event) => void events.push(event),
    fail: (error) => void failures.push(error),
  });
  /** Lets the user be heard in real time. */
  const hears = async (windows: number, speech: boolean): Promise<void> => {
    for (let count = 0; count < windows; count += 1) {
      clock.tick(WINDOW_MS);
      ears.hear(new Int16Array(WINDOW).fill(speech ? 1 : 0));
      await settle(1);
    }
  };
  return {
    clock,
    ears,
    events,
    failures,
    told,
    hears,
    looks,
    says: (event: RecognitionEvent, more = false) => {
      recognizes = more;
      tell(event);
    },
  };
}

describe('ears', () => {
  it('hear sound, how long it lasts, and its pause', async () => {
    const { clock, events, told, hears } = someEars();
    const from = clock.now();
    await hears(10, false);
    await hears(20, true);
    await hears(10, false);
    expect(events).toEqual([
      { type: 'speaks', since: from + 10 * WINDOW_MS },
      { type: 'lasts' },
      { type: 'pauses', spokenMs: 20 * WINDOW_MS },
    ]);
    expect(told).toEqual(['speaks 0', 'pauses']);
  });

  it('ask for words as soon as it is quiet, and where that is a request of its own, in the pause', async () => {
    for (const byRequest of [false, true]) {
      const { told, hears } = someEars({ byRequest });
      await hears(5, true);
      await hears(6, false);
      await hears(5, true);
      await hears(8, false);
      expect(told).toEqual(byRequest ? ['speaks 0', 'speaks 0', 'pauses'] : ['speaks 0', 'pauses', 'speaks 0', 'pauses']);
    }
  });

  it('know when sound began that came late and at once', async () => {
    const { clock, ears, events, told } = someEars();
    const from = clock.now();
    clock.tick(30 * WINDOW_MS);
    for (let index = 0; index < 30; index += 1) ears.hear(new Int16Array(WINDOW).fill(index < 10 ? 0 : 1));
    await ears.caughtUp();
    expect(events).toEqual([{ type: 'speaks', since: from + 10 * WINDOW_MS }, { type: 'lasts' }]);
    expect(told).toEqual([`speaks ${18 * WINDOW_MS}`]);
  });

  it('are caught up when all that has come was looked at', async () => {
    const { ears, looks } = someEars({ slow: true });
    for (let index = 0; index < 3; index += 1) ears.hear(new Int16Array(WINDOW));
    let done = false;
    void ears.caughtUp().then(() => (done = true));
    await settle();
    expect([done, looks.length]).toEqual([false, 1]);
    for (let look = looks.shift(); look !== undefined; look = looks.shift()) {
      look();
      await settle();
    }
    expect(done).toBe(true);
  });

  it('report words, and that none are owed any more', () => {
    const { events, says } = someEars();
    says({ type: 'interim', text: 'I wo' }, true);
    says({ type: 'final', text: 'I would' }, true);
    says({ type: 'settled' }, true);
    says({ type: 'final', text: 'like a table' });
    says({ type: 'settled' });
    expect(events).toEqual([
      { type: 'interim', text: 'I wo' },
      { type: 'understood', text: 'I would', more: true },
      { type: 'understood', text: 'like a table', more: false },
      { type: 'understood', text: '', more: false },
    ]);
  });

  it('say that no words are owed where they came before the silence was a pause', async () => {
    const { events, hears, says } = someEars();
    await hears(5, true);
    await hears(4, false);
    says({ type: 'final', text: 'yes please' });
    says({ type: 'settled' });
    await hears(6, false);
    expect(events.slice(-2)).toEqual([
      { type: 'pauses', spokenMs: 5 * WINDOW_MS },
      { type: 'understood', text: '', more: false },
    ]);
    // The words of the next sound are still to come.
    await hears(5, true);
    await hears(8, false);
    expect(events.at(-1)).toEqual({ type: 'pauses', spokenMs: 5 * WINDOW_MS });
  });

  it('ask how long the silence has to be, with the last sound', async () => {
    const sounds: number[] = [];
    const { events, hears } = someEars({ detects: (sound) => (sounds.push(sound.length), 700) });
    await hears(50, true);
    await hears(8, false);
    expect(events.at(-1)).toEqual({ type: 'turnEnds', afterMs: 700 });
    expect(sounds).toEqual([HEARD_SAMPLES]);
  });

  it('forget what the detector says of a pause that is over, and do without an answer', async () => {
    const { events, hears } = someEars({ detects: () => undefined });
    await hears(10, true);
    await hears(8, false);
    expect(events.map(({ type }) => type)).toEqual(['speaks', 'pauses']);
    const late = Promise.withResolvers<number>();
    const slow = someEars({ detects: () => late.promise as unknown as number });
    await slow.hears(10, true);
    await slow.hears(8, false);
    await slow.hears(3, true);
    late.resolve(500);
    await settle();
    expect(slow.events.map(({ type }) => type)).toEqual(['speaks', 'pauses', 'speaks']);
  });

  it('take the end of the sound for its pause', async () => {
    const { ears, events, hears } = someEars();
    await hears(5, true);
    ears.hearNothing();
    await settle();
    expect(events.at(-1)).toEqual({ type: 'pauses', spokenMs: 5 * WINDOW_MS });
  });

  it('hear nothing while they are deaf', async () => {
    const { ears, events, told, hears, says } = someEars();
    await hears(5, true);
    const listen = ears.deafen();
    await hears(20, true);
    says({ type: 'final', text: 'hello' });
    expect(events.map(({ type }) => type)).toEqual(['speaks']);
    expect(told).toEqual(['speaks 0', 'pauses']);
    listen();
    await hears(3, true);
    expect(events.map(({ type }) => type)).toEqual(['speaks', 'speaks']);
  });

  it('finish when the words of what was said are known', async () => {
    const { ears, events, told, hears, says } = someEars();
    says({ type: 'final', text: 'hello' });
    await hears(5, true);
    says({ type: 'interim', text: 'good' }, true);
    let finished = false;
    void ears.finish().then(() => (finished = true));
    await hears(10, true);
    expect(told).toEqual(['speaks 0', 'pauses']);
    expect(finished).toBe(false);
    says({ type: 'final', text: 'good bye' });
    await settle();
    expect(finished).toBe(true);
    expect(events.slice(-2)).toEqual([
      { type: 'pauses', spokenMs: 5 * WINDOW_MS },
      { type: 'understood', text: 'good bye', more: false },
    ]);
  });

  it('say that nothing is understood any more when voice activity breaks', async () => {
    const { ears, events, failures, hears } = someEars();
    ears.hear(new Int16Array(WINDOW).fill(BROKEN));
    await hears(10, true);
    await ears.caughtUp();
    expect(failures).toEqual([new Error('no such tensor')]);
    expect(events).toEqual([]);
  });

  it('say when nothing is understood any more, and nothing once they are closed', async () => {
    const { ears, events, failures, told, hears, says } = someEars();
    says({ type: 'failed', error: 'refused' });
    expect(failures).toEqual(['refused']);
    ears.close();
    await hears(10, true);
    says({ type: 'failed', error: 'closed' });
    expect([events, failures, told]).toEqual([[], ['refused'], ['close']]);
  });
});
