import { describe, expect, it } from 'vitest';

import { hearNothing, hearWindow, SILENT, WINDOW_MS, type VoiceActivitySettings, type VoiceChange } from './voice-activity.ts';

const usual: VoiceActivitySettings = { shortestMs: 50, longMs: 500, pauseMs: 250 };

/**
 * Lists the changes, with the number of the window. @param windows their probabilities; a number of windows of speech or silence where it
 * is larger than 1 or less than 0
 */
function changesIn(windows: readonly number[], settings = usual): readonly (readonly [number, VoiceChange])[] {
  const all = windows.flatMap((window) => {
    if (window > 1) return Array.from({ length: window }, () => 0.9);
    return window < 0 ? Array.from({ length: -window }, () => 0.01) : [window];
  });
  const found: (readonly [number, VoiceChange])[] = [];
  let voice = SILENT;
  for (const [index, probability] of all.entries()) {
    const { now, changes } = hearWindow(voice, probability, settings);
    voice = now;
    found.push(...changes.map((change) => [index + 1, change] as const));
  }
  return found;
}

describe('voice activity', () => {
  it('is there after two windows, and over after the silence of a pause', () => {
    expect(changesIn([-5, 10, -8])).toEqual([
      [7, { type: 'speaks', agoMs: 2 * WINDOW_MS }],
      [19, { type: 'hushes' }],
      [23, { type: 'pauses', spokenMs: 10 * WINDOW_MS }],
    ]);
  });

  it('is not there for a click', () => {
    expect(changesIn([-5, 0.9, -20, 0.9, -20])).toEqual([]);
  });

  it('is long by its own length, without the silence behind it', () => {
    expect(changesIn([15, -20]).map(([, { type }]) => type)).not.toContain('lasts');
    expect(changesIn([16, -20])).toContainEqual([16, { type: 'lasts' }]);
    // A gap within the sound counts.
    expect(changesIn([10, -5, 2, -20])).toContainEqual([16, { type: 'lasts' }]);
  });

  it('goes on after a moment of silence', () => {
    expect(changesIn([5, -4, 3, -8])).toEqual([
      [2, { type: 'speaks', agoMs: 2 * WINDOW_MS }],
      [9, { type: 'hushes' }],
      [10, { type: 'goesOn' }],
      [16, { type: 'hushes' }],
      [20, { type: 'pauses', spokenMs: 12 * WINDOW_MS }],
    ]);
  });

  it('goes on with less than it begins with', () => {
    expect(changesIn([0.4, 0.4, 0.4, 0.4])).toEqual([]);
    expect(changesIn([2, 0.4, 0.4, -8]).at(-1)).toEqual([12, { type: 'pauses', spokenMs: 4 * WINDOW_MS }]);
  });

  it('lasts at once where any sound is long', () => {
    expect(changesIn([3], { ...usual, longMs: 50 }).map(([index, { type }]) => [index, type])).toEqual([
      [2, 'speaks'],
      [2, 'lasts'],
    ]);
  });

  it('is over where the sound is', () => {
    const { now } = hearWindow({ ...SILENT, speaking: true, spokenMs: 320 }, 0.9, usual);
    expect(hearNothing(now)).toEqual({ now: SILENT, changes: [{ type: 'hushes' }, { type: 'pauses', spokenMs: 352 }] });
    expect(hearNothing(SILENT).changes).toEqual([]);
  });
});
