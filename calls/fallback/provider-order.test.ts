import { expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { toCallFailure, type ProviderError } from '../provider-access/index.ts';
import { ProviderOrder } from './provider-order.ts';

function order(restMs = 30_000) {
  const clock = new FakeClock();
  const [a, b, c] = ['a', 'b', 'c'].map((provider) => ({ provider, model: 'm' })) as [Named, Named, Named];
  const lines: unknown[] = [];
  const logger = { warn: (line: object, message: string) => lines.push({ ...line, message }) } as unknown as Logger;
  let takeovers = 0;
  const providers = new ProviderOrder({
    part: 'llm',
    providers: [a, b, c],
    restMs,
    failureOf: (rejection) => rejection as ProviderError,
    clock,
    logger,
    onTakeover: () => (takeovers += 1),
  });
  return { providers, clock, a, b, c, lines, takeovers: () => takeovers };
}
interface Named {
  readonly provider: string;
  readonly model: string;
}

it('asks one that failed or was late last, for a while', () => {
  const { providers, clock, a, b, c, lines, takeovers } = order();
  expect(providers.order).toEqual([a, b, c]);
  providers.answered(c, [
    { provider: a, failure: toCallFailure({ part: 'llm', provider: 'a' }, 'runtime', 'answers 500', { status: 500 }) },
    { provider: b },
  ]);
  expect(providers.order).toEqual([c, a, b]);
  expect(providers.current).toBe(c);
  expect(takeovers()).toBe(1);
  expect(lines).toEqual([
    expect.objectContaining({ part: 'llm', provider: 'a', by: 'c m', kind: 'runtime', status: 500 }),
    { part: 'llm', provider: 'b', model: 'm', by: 'c m', message: 'a provider is late; another one answers' },
  ]);
  clock.tick(30_000);
  expect(providers.order).toEqual([a, b, c]);
});

it('counts no takeover where the same one answers, or the preferred one in the end', () => {
  const { providers, a, takeovers } = order();
  providers.answered(a, [{ provider: a }]);
  providers.answered(a);
  expect(takeovers()).toBe(0);
  expect(providers.order[0]).toBe(a);
});

it('forgives one that answers again', () => {
  const { providers, a, b, c } = order(Number.POSITIVE_INFINITY);
  providers.answered(b, [{ provider: a }]);
  expect(providers.order).toEqual([b, c, a]);
  providers.answered(a, [{ provider: b }, { provider: c }]);
  expect(providers.order).toEqual([a, b, c]);
});
