import { EventEmitter } from 'node:events';

import { expect, it } from 'vitest';

import { stopSignalOf } from './stop-signal.ts';

it.each([
  ['message', { case: 'shutdownRequest' }, true],
  ['message', { case: 'pingRequest' }, false],
  ['message', null, false],
  ['disconnect', undefined, true],
])('%s %j: %s', (event, message, stops) => {
  const child = new EventEmitter();
  const signal = stopSignalOf(child);
  child.emit(event, message);
  expect(signal.aborted).toBe(stops);
});
