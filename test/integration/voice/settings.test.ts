/** Tests settings that change what providers are asked, or what is heard behind an agent. Its speech is tested in test/simulated-calls. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, describe, expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { startProviderServer } from '../../support/provider-server.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { openStage } from './stage.ts';

afterAll(dispose);
const stage = suiteFixture(openStage);

describe.concurrent('a setting', () => {
  it('language, temperature and maxTokens of the model, the voice: as the providers get them', async () => {
    const call = await stage.joined({
      spec: { language: 'de-DE', llm: { temperature: '1.25', maxTokens: 77 }, textToSpeech: { voice: { id: 'alto' } } },
    });
    await call.becomes({ status: 'ongoing' });
    await call.says('hello');
    await call.caller.hears('I heard: hello');
    expect(call.provider.requests('transcriptions')[0]?.language).toMatch(/^de/);
    const request = call.provider.requests('chat')[0];
    expect(request?.system).toContain('German');
    expect(request?.body).toMatchObject({ temperature: 1.25, model: 'test-model' });
    expect(request?.body['max_tokens'] ?? request?.body['max_completion_tokens']).toBe(77);
    expect(call.provider.requests('speech')[0]).toMatchObject({ voice: 'alto', model: 'test-voice' });
  });

  it('ambientSound: heard behind the agent, on a track of its own', async () => {
    const call = await stage.joined({ spec: { ambientSound: { source: 'Beach', volume: '2' } } });
    await eventually(() => expect(call.caller.loudnessOf('background_audio', 0)).toBeGreaterThan(0.001));
    await call.caller.leave();
    await call.becomes({ finishReason: 'user_ended_call' });
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
