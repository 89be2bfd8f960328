import assert from 'node:assert/strict';

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  HEALTHY_MS,
  initialState,
  transition,
  WATCH_ATTEMPTS,
  WATCH_LIST_ATTEMPTS,
  type Backoff,
  type Listing,
  type ReflectorState,
  type Watching,
} from './reflector-state.ts';

const watching: Watching = { name: 'watching', resourceVersion: '10', failures: 0, attempts: 0, pagesOnly: false };
const over = (aliveMs: number, resourceVersion = '10') => ({ aliveMs, resourceVersion });

describe('reflector states', () => {
  it('goes from a listing to a watch from where the listing ends', () => {
    expect(transition(initialState, { type: 'synced', resourceVersion: '10' })).toEqual(watching);
  });

  it('lists by pages for good once the server has said that it knows no other way', () => {
    const pages = transition(initialState, { type: 'unsupported' }) as Listing;
    expect(pages).toMatchObject({ name: 'listing', mode: 'pages', failures: 0 });
    const later = transition(transition(pages, { type: 'synced', resourceVersion: '10' }) as Watching, {
      type: 'expired',
      ...over(0),
    }) as Backoff;
    expect(later.next).toMatchObject({ name: 'listing', mode: 'pages' });
  });

  it('tries pages once after three broken WatchLists, then WatchLists again', () => {
    let state: ReflectorState = initialState;
    const modes: string[] = [];
    for (let n = 0; n < (WATCH_LIST_ATTEMPTS + 1) * 2; n++) {
      modes.push((state as Listing).mode);
      state = transition(transition(state as Listing, { type: 'failed' }) as Backoff, { type: 'elapsed' });
    }
    expect(modes).toEqual(['watch-list', 'watch-list', 'watch-list', 'pages', 'watch-list', 'watch-list', 'watch-list', 'pages']);
  });

  it('goes on watching from the last event when a watch ends in order, and pauses when it was over at once', () => {
    expect(transition(watching, { type: 'ended', ...over(300_000, '50') })).toEqual({ ...watching, resourceVersion: '50' });
    expect(transition(watching, { type: 'ended', ...over(5, '50') })).toEqual({
      name: 'backoff',
      failures: 1,
      next: { ...watching, resourceVersion: '50', failures: 1, attempts: 1 },
    });
  });

  it('takes up a broken watch where it was, and doubts its position after five that came to nothing', () => {
    let state: ReflectorState = watching;
    const next: string[] = [];
    for (let n = 0; n < WATCH_ATTEMPTS; n++) {
      const pause = transition(state as Watching, { type: 'broken', ...over(0) }) as Backoff;
      next.push(pause.next.name);
      state = pause.next;
    }
    expect(next).toEqual(['watching', 'watching', 'watching', 'watching', 'listing']);
    expect(state).toMatchObject({ mode: 'watch-list', failures: WATCH_ATTEMPTS });
  });

  it('forgets failures after a healthy watch, not after a short one', () => {
    const troubled = { ...watching, failures: 7, attempts: 3 };
    expect(transition(troubled, { type: 'broken', ...over(HEALTHY_MS) })).toMatchObject({ failures: 1 });
    expect(transition(troubled, { type: 'broken', ...over(HEALTHY_MS - 1) })).toMatchObject({ failures: 8, next: { attempts: 1 } });
  });

  it('stops from everywhere, and nowhere else', () => {
    const pause = transition(watching, { type: 'broken', ...over(0) }) as Backoff;
    expect(
      [transition(initialState, { type: 'stop' }), transition(watching, { type: 'stop' }), transition(pause, { type: 'stop' })].map(
        ({ name }) => name,
      ),
    ).toEqual(['stopped', 'stopped', 'stopped']);
    const event = fc.record({ pick: fc.nat(3), aliveMs: fc.integer({ min: 0, max: 700_000 }), resourceVersion: fc.nat().map(String) });
    fc.assert(
      fc.property(fc.array(event), (events) => {
        let state: ReflectorState = initialState;
        for (const { pick, ...data } of events) {
          const before: ReflectorState = state;
          if (before.name === 'listing') {
            state = transition(
              before,
              pick === 0
                ? { type: 'synced', resourceVersion: data.resourceVersion }
                : pick === 1 && before.mode === 'watch-list'
                  ? { type: 'unsupported' }
                  : { type: 'failed' },
            );
          } else if (before.name === 'watching') {
            state = transition(before, { type: (['ended', 'broken', 'expired'] as const)[pick % 3] ?? 'ended', ...data });
          } else if (before.name === 'backoff') {
            state = transition(before, { type: 'elapsed' });
          }
          // No loop without a pause: whatever follows a failure is a Backoff, and a Backoff always counts at least one.
          if (before.name === 'listing' && state.name === 'listing') assert(before.mode === 'watch-list' && state.mode === 'pages');
          if (state.name === 'backoff') assert(state.failures > 0);
          if (before.name === 'watching' && state.name === 'watching') assert(data.aliveMs >= 1000);
          expect(state.name).not.toBe('stopped');
        }
      }),
    );
  });
});
