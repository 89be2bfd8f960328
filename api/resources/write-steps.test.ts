import { describe, expect, it } from 'vitest';

import { KubeError } from '../../kube/error.ts';
import { runSteps, together, type Step } from './write-steps.ts';

const refusal = new KubeError({ code: 422, reason: 'Invalid', message: 'refused' });
const silence = new KubeError({ code: 0, reason: 'Timeout', message: 'no answer' });

/** Makes steps that record what becomes of them. */
function aWrite() {
  const log: string[] = [];
  const step = (
    name: string,
    { fails, undoFails, ...kind }: Pick<Step, 'isFinal' | 'isCheck'> & { fails?: Error; undoFails?: Error } = {},
  ): Step<string> => ({
    async run(_, dryRun) {
      log.push(dryRun ? `${name}?` : name);
      if (fails !== undefined) throw fails;
      return name;
    },
    async undo(result) {
      log.push(result === undefined ? `undo part of ${name}` : `undo ${name}`);
      if (undoFails !== undefined) throw undoFails;
    },
    ...kind,
  });
  return { log, step };
}

describe('the steps of a write', () => {
  it('are carried out in order, and know what the earlier ones came to', async () => {
    const { step } = aWrite();
    const first = step('a');
    const second: Step<string> = { run: async (resultOf) => `${resultOf(first)}b` };
    expect((await runSteps([first, second]))(second)).toBe('ab');
  });

  it('are undone in reverse where one is refused, with what that one has done in part', async () => {
    const { log, step } = aWrite();
    await expect(runSteps([step('a'), step('b'), step('c', { fails: refusal }), step('d')])).rejects.toBe(refusal);
    expect(log).toEqual(['a', 'b', 'c', 'undo part of c', 'undo b', 'undo a']);
  });

  it('stay where nobody knows whether one happened, unless it only checks', async () => {
    const { log, step } = aWrite();
    await expect(runSteps([step('a'), step('b', { fails: silence })])).rejects.toBe(silence);
    expect(log.splice(0)).toEqual(['a', 'b']);
    await expect(runSteps([step('a'), step('b', { fails: silence, isCheck: true })])).rejects.toBe(silence);
    expect(log).toEqual(['a', 'b', 'undo part of b', 'undo a']);
  });

  it('stay once a final one is done', async () => {
    const { log, step } = aWrite();
    await expect(runSteps([step('a'), step('b', { isFinal: true }), step('c'), step('d', { fails: refusal })])).rejects.toBe(refusal);
    expect(log.splice(0)).toEqual(['a', 'b', 'c', 'd', 'undo part of d', 'undo c']);
    await expect(runSteps([step('a'), step('b', { isFinal: true, fails: refusal })])).rejects.toBe(refusal);
    expect(log).toEqual(['a', 'b', 'undo part of b', 'undo a']);
  });

  it('keep what one rests on that can not be undone', async () => {
    const { log, step } = aWrite();
    await expect(runSteps([step('a'), step('b', { undoFails: silence }), step('c', { fails: refusal })])).rejects.toBe(refusal);
    expect(log).toEqual(['a', 'b', 'c', 'undo part of c', 'undo b']);
  });

  it('undo nothing of a dry run', async () => {
    const { log, step } = aWrite();
    await expect(runSteps([step('a'), step('b', { fails: refusal })], { dryRun: true })).rejects.toBe(refusal);
    expect(log).toEqual(['a?', 'b?']);
  });

  it('that run together are undone together, and stay where nobody knows of one of them', async () => {
    const { log, step } = aWrite();
    await expect(runSteps([together([step('a', { fails: refusal }), step('b')])])).rejects.toBe(refusal);
    expect(log.splice(0).toSorted()).toEqual(['a', 'b', 'undo part of a', 'undo part of b']);
    await expect(runSteps([together([step('a', { fails: refusal }), step('b', { fails: silence })])])).rejects.toBe(silence);
    expect(log).toEqual(['a', 'b']);
  });
});
