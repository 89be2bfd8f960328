import { expect, it } from 'vitest';

import { freePlaces, type PlaceFacts } from './free-places.ts';

const idle: PlaceFacts = {
  capacity: 10,
  live: 0,
  waiting: 0,
  beginning: 0,
  readyPlaces: 16,
  callsPerProcess: 8,
  startMs: 1_500,
  cores: 1,
  withinMs: 10_000,
};

it.each([
  ['an idle one takes as many as it may have', {}, 10, false],
  ['live calls take their places', { live: 7 }, 3, false],
  ['a full one takes none, and has none before a call ends', { live: 10 }, 0, false],
  ['nor one that has more than it may', { live: 12 }, 0, false],
  ['twelve begin within ten seconds of a core', { capacity: 100, readyPlaces: 100 }, 12, true],
  ['those that begin now are of them', { capacity: 100, readyPlaces: 100, live: 9, beginning: 9 }, 3, true],
  ['none is left while twelve begin', { capacity: 100, readyPlaces: 100, live: 12, beginning: 12 }, 0, true],
  ['more cores begin more', { capacity: 100, readyPlaces: 100, cores: 4 }, 50, true],
  ['processes that start in time count', { capacity: 40, readyPlaces: 0, cores: 16 }, 40, false],
  ['as many as start in time', { capacity: 40, readyPlaces: 0, cores: 16, startMs: 4_000 }, 16, true],
  ['not those that start too slowly', { readyPlaces: 3, startMs: 60_000 }, 3, true],
  ['calls that wait for a process take places first', { live: 3, waiting: 2, beginning: 2, readyPlaces: 3, startMs: 60_000 }, 1, true],
  ['a call alone is taken however slow everything is', { readyPlaces: 0, startMs: 60_000 }, 1, true],
  ['but only if it may be', { readyPlaces: 0, startMs: 60_000, live: 10 }, 0, false],
] as const)('%s: %j', (_, change, free, starting) => {
  expect(freePlaces({ ...idle, ...change })).toEqual({ free, starting });
});
