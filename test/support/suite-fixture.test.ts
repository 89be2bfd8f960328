import { describe, expect, it } from 'vitest';

import { suiteFixture } from './suite-fixture.ts';

const events: string[] = [];

class Counter {
  step = 1;
  #count = 0;
  add(): number {
    return (this.#count += this.step);
  }
  stop(): void {
    events.push(`stopped at ${this.#count}`);
  }
}

describe('a fixture', () => {
  const counter = suiteFixture(() => new Counter());
  const plain = suiteFixture(async () => ({ first: counter.add(), close: () => void events.push('closed') }));

  it('is what was started, for those that call, change and spread it', () => {
    counter.step = 10;
    expect([counter.add(), counter.step, 'step' in counter]).toEqual([11, 10, true]);
    expect({ ...plain }).toMatchObject({ first: 1 });
  });
});

it('is closed after its suite, the last one first', () => expect(events).toEqual(['closed', 'stopped at 11']));
