import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { wellKnown } from '../../crds/index.ts';
import { generateSigningKey } from '../../webhooks/signing/signing-keys.ts';
import { keysAt, readSigningSecret } from '../../webhooks/signing/signing-secret.ts';
import type { Secret } from '../resources/core-clients.ts';
import { rotated } from './signing-secret.ts';

const hour = 3_600_000;
type State = Pick<Secret, 'data' | 'metadata'>;

/** Applies the patch as the API server does. */
function patched(state: State | undefined, { data, annotations }: ReturnType<typeof rotated>): State {
  const kept = (entries: Readonly<Record<string, string | null>>): Record<string, string> =>
    Object.fromEntries(Object.entries(entries).flatMap(([key, value]) => (value === null ? [] : [[key, value]])));
  return {
    data: kept({ ...state?.data, ...data }),
    metadata: { name: 's', annotations: kept({ ...state?.metadata.annotations, ...annotations }) },
  };
}

/** Returns the keys that sign at `now`, as the deliveries read them. */
function signing(state: State, now: number): readonly string[] {
  const text = (key: string): string | undefined => {
    const value = state.data?.[key];
    return value === undefined ? undefined : Buffer.from(value, 'base64').toString();
  };
  const keys = readSigningSecret(text, state.metadata.annotations?.[wellKnown.signingExpiry]) ?? [];
  return keysAt(keys, now).map((key) => `whsec_${key.export().toString('base64')}`);
}

describe('a rotation', () => {
  it('signs with the new key and with those whose grace periods last, newest first, and ends none early (model)', () => {
    const step = fc.record({ graceHours: fc.constantFrom(0, 1, 5, 24), pauseMs: fc.integer({ min: 1, max: 8 * hour }) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
        let now = Date.parse('2026-11-21T09:00:00Z');
        let state: State | undefined;
        let expected: { readonly key: string; readonly until: number }[] = [];
        for (const { graceHours, pauseMs } of steps) {
          now += pauseMs;
          const key = generateSigningKey();
          const replaced = expected[0];
          const still = expected.slice(1).filter(({ until }) => until > now);
          if (graceHours > 0 && still.length === 4) {
            const until = new Date(Math.min(...still.map((each) => each.until))).toISOString();
            expect(() => rotated(state, key, { graceMs: graceHours * hour, now })).toThrow(expect.objectContaining({ until }));
            continue;
          }
          const change = rotated(state, key, { graceMs: graceHours * hour, now });
          expect(change.previousExpiresAt).toBe(
            replaced === undefined || graceHours === 0 ? null : new Date(now + graceHours * hour).toISOString(),
          );
          const kept = replaced === undefined ? still : [{ key: replaced.key, until: now + graceHours * hour }, ...still];
          expected = [{ key, until: Infinity }, ...(graceHours === 0 ? [] : kept)];
          state = patched(state, change);
          for (const at of [now, now + 2 * hour, now + 25 * hour])
            expect(signing(state, at)).toEqual(expected.filter(({ until }) => until > at).map((each) => each.key));
        }
      }),
    );
  });

  it('keeps a former key without a date, which a person has put there, and leaves other keys of the Secret alone', () => {
    const [old, mine, fresh] = [generateSigningKey(), generateSigningKey(), generateSigningKey()];
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const state: State = {
      data: { current: base64(old), 'previous-1': base64(mine), 'headers.x-abc': base64('value') },
      metadata: { name: 's', annotations: { [wellKnown.signingExpiry]: 'no JSON' } },
    };
    const now = Date.parse('2026-11-21T09:00:00Z');
    const after = patched(state, rotated(state, fresh, { graceMs: hour, now }));
    expect(signing(after, now)).toEqual([fresh, old, mine]);
    expect(signing(after, now + 2 * hour)).toEqual([fresh, mine]);
    expect(after.data?.['headers.x-abc']).toBe(base64('value'));
  });
});
