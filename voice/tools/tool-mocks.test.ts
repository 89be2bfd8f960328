import { describe, expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { NOT_MOCKED, ToolMocks, type ToolMock } from './tool-mocks.ts';
import type { ToolDefinition } from './tool-result.ts';

const signal = new AbortController().signal;
const real = (name: string, actsOnCall?: ToolDefinition['actsOnCall']): ToolDefinition => ({
  name,
  description: '',
  parameters: {},
  messages: {},
  refuse: () => undefined,
  run: async () => ({ succeeded: true, forModel: 'real' }),
  ...(actsOnCall && { actsOnCall }),
});

function mocked(mocks: readonly ToolMock[], clock = new FakeClock(), over = signal) {
  const all = new ToolMocks({ mocks, clock });
  return async (args: Record<string, unknown> = {}, definition = real('find')) => all.inPlaceOf(definition, over).run(args, signal);
}

describe('a mock', () => {
  it('answers in place of the tool, by name and arguments, the first that fits', async () => {
    const call = mocked([
      { name: 'book', type: 'Returns', returns: 0 },
      { name: 'find', type: 'Returns', when: { id: '42' }, returns: { state: 'shipped' } },
      { name: 'find', type: 'Error', when: { id: '43', deep: { a: [1] } }, error: 'no such order' },
      { name: 'find', type: 'Returns', returns: null },
    ]);
    expect(await call({ id: '42', more: true })).toEqual({ succeeded: true, forModel: { state: 'shipped' } });
    expect(await call({ id: '43', deep: { a: [1] } })).toMatchObject({ succeeded: false, forModel: { error: 'no such order' } });
    expect(await call({ id: '43' })).toEqual({ succeeded: true, forModel: null });
  });

  it('answers in sequence, and the last answer again', async () => {
    const call = mocked([
      {
        name: 'find',
        type: 'Sequence',
        sequence: [
          { type: 'Returns', returns: 1 },
          { type: 'Error', error: 'busy' },
          { type: 'Returns', returns: 3 },
        ],
      },
    ]);
    const got = [await call(), await call(), await call(), await call()];
    expect(got.map(({ forModel }) => forModel)).toEqual([1, { error: 'busy' }, 3, 3]);
  });

  it('waits first', async () => {
    const clock = new FakeClock();
    let answered = false;
    const call = mocked([{ name: 'find', type: 'Returns', returns: 1, delay: '500ms' }], clock)().then(() => (answered = true));
    await clock.advance(499);
    expect(answered).toBe(false);
    await clock.advance(1);
    await call;
  });

  it('answers at once when the call is over', async () => {
    const [clock, over] = [new FakeClock(), new AbortController()];
    const call = mocked([{ name: 'find', type: 'Returns', returns: 1, delay: '60s' }], clock, over.signal)();
    over.abort();
    expect([await call, clock.timers]).toEqual([{ succeeded: true, forModel: 1 }, 0]);
  });

  it('lets the tool itself answer', async () => {
    expect(await mocked([{ name: 'find', type: 'Passthrough' }])()).toMatchObject({ forModel: 'real' });
  });

  it('is missed: the tool is not called', async () => {
    expect(await mocked([{ name: 'find', type: 'Returns', when: { id: '1' }, returns: 1 }])()).toMatchObject({
      succeeded: false,
      forModel: { error: NOT_MOCKED },
    });
  });
});

describe('a tool that acts on the call', () => {
  it('needs no mock', async () => {
    expect(await mocked([])({}, real('end_call', 'ends'))).toMatchObject({ forModel: 'real' });
    expect(await mocked([])({}, real('collect_digits', 'continues'))).toMatchObject({ forModel: 'real' });
  });

  it('ends the call when its mock succeeds, and fails with its mock', async () => {
    const call = mocked([
      {
        name: 'transfer_call',
        type: 'Sequence',
        sequence: [
          { type: 'Error', error: 'nobody is there' },
          { type: 'Returns', returns: true },
        ],
      },
    ]);
    expect(await call({}, real('transfer_call', 'ends'))).toMatchObject({ succeeded: false, forModel: { error: 'nobody is there' } });
    expect(await call({}, real('transfer_call', 'ends'))).toMatchObject({ forModel: 'real' });
  });

  it('that goes on is answered by its mock', async () => {
    expect(
      await mocked([{ name: 'collect_digits', type: 'Returns', returns: { digits: '1' } }])({}, real('collect_digits', 'continues')),
    ).toMatchObject({
      forModel: { digits: '1' },
    });
  });
});
