import { EventEmitter } from 'node:events';

import { expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import type { FromJobProcess, ToJobProcess } from './messages.ts';
import { RoleClient, type ChildOfServer } from './role-client.ts';

/** A job process whose role answers as the test says. */
class Child extends EventEmitter implements ChildOfServer {
  connected = true;
  readonly sent: FromJobProcess[] = [];

  send(message: FromJobProcess): void {
    this.sent.push(message);
  }

  answer(message: Omit<Extract<ToJobProcess, { readonly case: 'answer' }>, 'case'>): void {
    this.emit('message', { case: 'answer', ...message });
  }
}

function start() {
  const child = new Child();
  const clock = new FakeClock();
  return { child, clock, role: new RoleClient({ process: child, clock }) };
}

it('gives each question its own answer, in whatever order they come', async () => {
  const { child, clock, role } = start();
  const answers = [role.ask('countTokens', ['one']), role.ask('countTokens', ['two', 'words'])];
  expect(child.sent).toEqual([
    { case: 'ask', id: 1, service: 'countTokens', args: [['one']] },
    { case: 'ask', id: 2, service: 'countTokens', args: [['two', 'words']] },
  ]);
  child.answer({ id: 2, value: [1, 1] });
  child.answer({ id: 1, value: [1] });
  expect(await Promise.all(answers)).toEqual([[1], [1, 1]]);
  expect(clock.timers).toBe(0);
});

it('fails with what the role has failed with', async () => {
  const { child, role } = start();
  const answer = role.ask('infer', 'eot', 'sound');
  child.answer({ id: 1, error: 'no model' });
  await expect(answer).rejects.toThrow('no model');
});

it('does not wait for ever, nor for a role that is gone', async () => {
  const { child, clock, role } = start();
  const late = role.ask('reportTakeover', 'llm');
  const outcome = expect(late).rejects.toThrow('the voice role has not answered reportTakeover in time');
  await clock.advance(10_000);
  await outcome;
  const lost = role.ask('reportTakeover', 'llm');
  child.connected = false;
  child.emit('disconnect');
  await expect(lost).rejects.toThrow('the voice role is gone');
  await expect(role.ask('reportTakeover', 'llm')).rejects.toThrow('the voice role is gone');
  expect([child.sent.length, clock.timers]).toEqual([2, 0]);
});
