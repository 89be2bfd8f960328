/** Runs Argo CD's health check with a Lua interpreter. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';
import { LuaFactory } from 'wasmoon';

import { repositoryRoot } from '../../../local-stack/repository.ts';
import { kinds } from '../../../crds/index.ts';

interface Health {
  readonly status: string;
  readonly message: string;
}

/** The factory compiles Lua once for all. */
const factory = new LuaFactory();

/** Runs the script as Argo CD does: the object is the global `obj`. */
async function healthOf(object: object): Promise<Health> {
  const lua = await factory.createEngine();
  try {
    const script = await readFile(join(repositoryRoot(), 'examples/argocd/health.lua'), 'utf8');
    return (await lua.doString(`obj = ${toLua(object)}\n${script}`)) as Health;
  } finally {
    lua.global.close();
  }
}

/** Writes a value in Lua's syntax. */
function toLua(value: unknown): string {
  if (value === null || value === undefined) return 'nil';
  if (Array.isArray(value)) return `{${value.map(toLua).join(', ')}}`;
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, inner]) => `[${JSON.stringify(key)}] = ${toLua(inner)}`)
      .join(', ')}}`;
  return JSON.stringify(value);
}

const condition = (type: string, status: string, message = `${type} ${status}`) => ({ type, status, reason: 'Because', message });

describe("Argo CD's health", () => {
  const object = (kind: string, status: object | undefined, more: { readonly spec?: object; readonly metadata?: object } = {}): object => ({
    apiVersion: 'parley.dev/v1beta1',
    kind,
    metadata: { name: 'one', generation: 3, ...more.metadata },
    spec: { ...more.spec },
    ...(status !== undefined && { status }),
  });

  it.each(kinds.map(({ descriptor }) => descriptor.kind))('of %s follows its conditions', async (kind) => {
    const ready = { observedGeneration: 3, conditions: [condition('Accepted', 'True'), condition('Ready', 'True', 'All is well')] };
    const stalled = {
      observedGeneration: 3,
      conditions: [condition('Ready', 'False'), condition('Stalled', 'True', 'Secret "models" is missing')],
    };
    const busy = {
      observedGeneration: 3,
      conditions: [condition('Ready', 'False', 'Postgres does not answer'), condition('Reconciling', 'True')],
    };
    await expect(healthOf(object(kind, ready))).resolves.toEqual({ status: 'Healthy', message: 'All is well' });
    await expect(healthOf(object(kind, stalled))).resolves.toEqual({ status: 'Degraded', message: 'Secret "models" is missing' });
    await expect(healthOf(object(kind, busy))).resolves.toEqual({ status: 'Progressing', message: 'Postgres does not answer' });
    await expect(healthOf(object(kind, undefined))).resolves.toMatchObject({ status: 'Progressing' });
    await expect(healthOf(object(kind, {}))).resolves.toMatchObject({ status: 'Progressing' });
    // A condition about the spec before says nothing of this one.
    await expect(healthOf(object(kind, { ...ready, observedGeneration: 2 }))).resolves.toMatchObject({ status: 'Progressing' });
    await expect(healthOf(object(kind, { ...stalled, observedGeneration: 2 }))).resolves.toMatchObject({ status: 'Progressing' });
    await expect(healthOf(object(kind, ready, { spec: { suspend: true } }))).resolves.toMatchObject({ status: 'Suspended' });
    await expect(healthOf(object(kind, ready, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }))).resolves.toMatchObject({
      status: 'Progressing',
    });
  });

  it('says why a deletion does not come to an end', async () => {
    const deleted = { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', generation: 4 } };
    const stalled = { observedGeneration: 4, conditions: [condition('Stalled', 'True', 'two agents use it')] };
    await expect(healthOf(object('Tool', stalled, deleted))).resolves.toEqual({
      status: 'Degraded',
      message: 'Being deleted: two agents use it',
    });
    // A problem from before says nothing of the deletion.
    await expect(healthOf(object('Tool', { ...stalled, observedGeneration: 3 }, deleted))).resolves.toEqual({
      status: 'Progressing',
      message: 'Being deleted',
    });
  });

  it('covers objects without a generation, too', async () => {
    const ready = { observedGeneration: 0, conditions: [condition('Ready', 'True')] };
    await expect(healthOf({ metadata: { name: 'one' }, status: ready })).resolves.toMatchObject({ status: 'Healthy' });
    await expect(healthOf({ metadata: { name: 'one' }, status: {} })).resolves.toMatchObject({ status: 'Progressing' });
  });

  it('says of an agent that fails whether calls go on', async () => {
    const status = {
      observedGeneration: 3,
      servingRevision: 'abc',
      conditions: [condition('Ready', 'False'), condition('Stalled', 'True', 'No such Secret')],
    };
    await expect(healthOf(object('Agent', status))).resolves.toEqual({
      status: 'Degraded',
      message: 'No such Secret (calls continue with the last valid revision)',
    });
  });
});
