import { pino } from 'pino';
import { expect, it } from 'vitest';

import { storedObject } from '../../test/support/arbitrary-things.ts';
import { Sweep } from './sweep.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('retires all but what exists, of the leader alone, and has what was retired looked at again', async () => {
  const asked: (readonly string[])[] = [];
  const enqueued: string[] = [];
  let fails = false;
  const sweep = new Sweep({
    kind: 'Tool',
    informer: {
      cache: { list: () => [storedObject('Tool', 'orders', { type: 'TransferCall', transferCall: { to: '+15550100' } })] },
    } as never,
    idOf: ({ metadata }) => metadata.name,
    retireOthers: (living) => {
      asked.push(living);
      return fails ? Promise.reject(new Error('Postgres is away')) : Promise.resolve(['acme/gone']);
    },
    logger: pino({ level: 'silent' }),
  });
  sweep.run();
  const stop = sweep.lead({ enqueue: (key) => void enqueued.push(key), enqueueAll: () => undefined });
  sweep.run();
  await turn();
  expect(asked).toEqual([['orders']]);
  expect(enqueued).toEqual(['acme/gone']);
  fails = true;
  sweep.run();
  await turn();
  expect(enqueued).toHaveLength(1);
  stop();
  sweep.run();
  expect(asked).toHaveLength(2);
});
