/** Settings of an agent that change what its providers are asked. Those that change when something is heard are in `settings.timed.test.ts`. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, describe, expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { startProviderServer } from '../../support/provider-server.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { openStage, type StagedCall } from './stage.ts';

afterAll(dispose);
const stage = suiteFixture(openStage);

/** One turn, from its question to its answer. */
async function oneTurn(spec: Readonly<Record<string, unknown>>): Promise<StagedCall> {
  const call = await stage.joined({ spec });
  await call.becomes({ status: 'ongoing' });
  await call.says('hello');
  await call.caller.hears('I heard: hello');
  return call;
}

describe.concurrent('a setting', () => {
  it('language: what is listened for, and spoken', async () => {
    const call = await oneTurn({ language: 'de-DE' });
    expect(call.provider.requests('transcriptions')[0]?.language).toMatch(/^de/);
    expect(call.provider.requests('chat')[0]?.system).toContain('German');
  });

  it('temperature and maxTokens of the model; the voice', async () => {
    const call = await oneTurn({
      llm: { temperature: 1.25, maxTokens: 77 },
      textToSpeech: { voice: { id: 'alto' } },
    });
    const body = call.provider.requests('chat')[0]?.body;
    expect(body).toMatchObject({ temperature: 1.25, model: 'test-model' });
    expect(body?.['max_tokens'] ?? body?.['max_completion_tokens']).toBe(77);
    expect(call.provider.requests('speech')[0]).toMatchObject({ voice: 'alto', model: 'test-voice' });
  });

  it('no welcome message: the agent waits for the user', async () => {
    const call = await stage.joined({});
    await call.becomes({ status: 'ongoing' });
    await call.says('hello');
    await call.caller.hears('I heard: hello');
    expect(call.provider.requests('speech').map(({ input }) => input)).toEqual(['I heard: hello']);
    await eventually(async () => expect((await call.messages()).map(({ role }) => role)).toEqual(['user', 'agent']));
  });

  it('speech: the voice gets words, and the transcript keeps what was written', async () => {
    const [welcome, answer] = ['**Parley** is [here. 👋', 'It was ~~$5~~ and is $4 for a *stray sign.'];
    const call = await stage.joined({
      spec: { welcomeMessage: welcome, speech: { replacements: [{ written: 'Parley', spoken: 'par lay' }] } },
    });
    call.provider.chat(() => answer);
    await call.caller.hears('par lay is [here.');
    await call.says('hello');
    await call.caller.hears('It was formerly 5 dollars, and is 4 dollars for a stray sign.');
    await eventually(async () => expect((await call.messages()).map(({ content }) => content)).toEqual([welcome, 'hello', answer]));
  });

  it('an edit changes nothing in the call, and everything in the next', async () => {
    const provider = await startProviderServer();
    try {
      const before = await stage.joined({ provider, systemPrompt: 'Before.' });
      await before.becomes({ status: 'ongoing' });
      const edited = await stage.agent({ systemPrompt: 'After.', spec: { welcomeMessage: 'New here.' } }, provider);
      await stage.store.agentReleases.serve({ org: stage.org, agentName: 'receptionist', revision: edited.revision });
      await before.says('hello');
      await before.caller.hears('I heard: hello');
      expect(provider.requests('chat').at(-1)?.system).toContain('Before.');
      const after = await stage.joined({ provider, revision: edited.revision });
      await after.caller.hears('New here.');
      await after.says('again');
      await after.caller.hears('I heard: again');
      // The first call goes on next to it.
      expect(provider.requests('chat').map(({ system }) => system)).toContainEqual(expect.stringContaining('After.'));
      expect((await before.record()).status).toBe('ongoing');
    } finally {
      await provider.close();
    }
  });
});
