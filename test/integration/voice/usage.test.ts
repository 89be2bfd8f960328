/** Calls report the use of providers that the providers count, whatever is interrupted, given up or killed. */
import { readFileSync } from 'node:fs';

import { dispose } from '@livekit/rtc-node';
import { afterAll, describe, expect, it } from 'vitest';

import type { UsageLine } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { now } from '../../support/test-caller.ts';
import { openStage, type CallWish, type StagedCall } from './stage.ts';

/** The figure of docs/operations/usage.md is measured with 200: `PARLEY_TEST_USAGE_CALLS=200`. */
const CALLS = Number(process.env['PARLEY_TEST_USAGE_CALLS'] ?? 4);
const AT_ONCE = 2;

const prices = [
  {
    kind: 'llm',
    provider: 'openai_compatible',
    currency: 'EUR',
    inputPerMillionTokens: '0.40',
    cachedInputPerMillionTokens: '0.1',
    outputPerMillionTokens: '1.60',
  },
  { kind: 'stt', provider: 'openai_compatible', model: 'test-ears', currency: 'EUR', perMinute: '0.006' },
  { kind: 'tts', provider: 'openai_compatible', currency: 'EUR', perMillionCharacters: 15 },
];

afterAll(dispose);
const stage = suiteFixture(() => openStage({ PARLEY_PRICES: JSON.stringify(prices) }));

/** Joins a call whose provider counts what it takes. */
async function joined(wish: CallWish = {}): Promise<StagedCall> {
  const call = await stage.call(wish);
  await call.provider.limitContext(1_000_000);
  await call.join();
  await call.becomes({ status: 'ongoing' });
  return call;
}

const jobProcesses = (role: number): readonly number[] =>
  readFileSync(`/proc/${role}/task/${role}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

const usageOf = ({ id }: StagedCall): Promise<readonly UsageLine[]> => stage.store.calls.usage.ofCall({ org: stage.org, id });

interface Sums {
  requests: number;
  inputTokens: number;
  outputTokens: number;
  characters: number;
  audioMilliseconds: number;
}

/** Sums entries by kind and model. */
function sumsOf(entries: readonly (Partial<Sums> & { readonly kind: string; readonly model: string })[]): Readonly<Record<string, Sums>> {
  const sums: Record<string, Sums> = {};
  for (const { kind, model, ...amounts } of entries) {
    const sum = (sums[`${kind} ${model}`] ??= { requests: 0, inputTokens: 0, outputTokens: 0, characters: 0, audioMilliseconds: 0 });
    for (const name of Object.keys(sum) as (keyof Sums)[]) sum[name] += amounts[name] ?? 0;
  }
  return sums;
}

/** Returns what the providers have counted. */
const counted = (calls: readonly StagedCall[]) =>
  sumsOf(
    calls.flatMap(({ provider }) => [
      ...provider.requests('chat').map(({ model, billed }) => Object.assign({ kind: 'llm', model, requests: 1 }, billed)),
      ...provider.requests('speech').map(({ model, input }) => ({ kind: 'tts', model, requests: 1, characters: input.length })),
      ...provider
        .requests('transcriptions')
        .map(({ model, seconds }) => ({ kind: 'stt', model, requests: 1, audioMilliseconds: seconds * 1_000 })),
    ]),
  );

/** Drops the sound of voices: a provider charges nothing for sound that was made and not fetched. */
const withoutSoundOfVoices = (sums: Readonly<Record<string, Sums>>) =>
  Object.fromEntries(
    Object.entries(sums).map(([name, sum]) => [
      name,
      { ...sum, audioMilliseconds: name.startsWith('tts') ? 0 : Math.round(sum.audioMilliseconds) },
    ]),
  );

const LONG = 'The bicycle is green and has three gears, a bell, a basket for your shopping and lights on both of its ends.';

describe('the usage of calls', () => {
  it(`is what the provider has counted, over ${CALLS} calls with interruptions`, { timeout: 600_000 + CALLS * 60_000 }, async () => {
    const held = Promise.withResolvers<void>();
    const calls: StagedCall[] = [];
    // The first answer is interrupted while its rest is still to come, the next while it is spoken, the last ends by itself.
    const hold = async (index: number): Promise<void> => {
      const call = await joined({ spec: { llm: { model: index % 2 === 0 ? 'model-a' : 'model-b' } }, systemPrompt: 'You sell bicycles.' });
      calls.push(call);
      for (const answer of [{ text: [`${LONG} And then`, ' there is more to say about it.'], holdRest: held.promise }, LONG]) {
        call.provider.chat(() => answer);
        const since = now();
        await call.says('tell me about the bicycle', 1_500);
        await call.caller.hears(LONG, { since });
      }
      call.provider.chat(() => 'It costs nine hundred.');
      await call.says('what does it cost', 1_500);
      await call.caller.hears('It costs nine hundred.');
      await call.caller.leave();
      await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
    };
    let next = 0;
    const line = async (): Promise<void> => {
      while (next < CALLS) await hold(next++);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, line));
    held.resolve();
    const used = (await Promise.all(calls.map(usageOf))).flat();
    expect(withoutSoundOfVoices(sumsOf(used))).toEqual(withoutSoundOfVoices(counted(calls)));
    expect(used.reduce((sum, { estimatedRequests }) => sum + estimatedRequests, 0)).toBeGreaterThanOrEqual(CALLS);
    expect(used.every(({ cost }) => cost?.currency === 'EUR')).toBe(true);
  });

  it('is stored while the call goes on, and stays as it is when its process is killed', async () => {
    const call = await joined();
    await call.says('what does it cost');
    await call.caller.hears('I heard: what does it cost');
    await eventually(async () => expect((await usageOf(call)).map(({ kind }) => kind)).toEqual(['llm', 'stt', 'tts']));
    const before = await usageOf(call);
    expect((await call.record()).status).toBe('ongoing');
    for (const pid of jobProcesses(stage.role.process.pid!)) process.kill(pid, 'SIGKILL');
    await call.caller.leave();
    const ended = await stage.store.calls.calls.end({
      org: stage.org,
      id: call.id,
      reason: 'native_platform_internal_error',
      events: () => [],
    });
    expect(ended).toMatchObject({ changed: true, call: { status: 'error' } });
    expect(await usageOf(call)).toEqual(before);
    expect(withoutSoundOfVoices(sumsOf(before))).toEqual(withoutSoundOfVoices(counted([call])));
  });
});
