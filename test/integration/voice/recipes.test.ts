/**
 * Each recipe is applied as its page says, becomes Ready with the real operator, passes its tests in the cluster, and holds a call with sound: one
 * of its tests, once more in audio. A script plays the models.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { dispose } from '@livekit/rtc-node';
import { afterAll, describe, expect, it } from 'vitest';

import { templateNames, templates } from '../../../cli/init/templates.ts';
import { createLogger } from '../../../platform/logging.ts';
import { readYaml } from '../../../platform/yaml.ts';
import type { TestManifest } from '../../support/builders.ts';
import { startProviderServer } from '../../support/provider-server.ts';
import { startHelpDeskServer } from '../../support/recipes/help-desk-server.ts';
import { HELP_DESK_URL, recipeFolder, recipes } from '../../support/recipes/recipes.ts';
import { standIn } from '../../support/recipes/stand-in.ts';
import { run } from '../../support/run.ts';
import { parleyEntry } from '../../support/stack.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { MARKS, syntheticSpeech } from '../../support/synthetic-speech.ts';
import { temporalAddress } from '../../support/temporal.ts';
import { bytesOf } from '../../support/tones.ts';
import { realMediaServer } from '../api/calls-support.ts';
import { startFacade } from '../api/facade.ts';
import { workerEnv } from '../agent-tests/runs-support.ts';
import { startCluster } from '../operator/harness.ts';
import { startWorkerRole } from '../workflows/support.ts';
import { startRole } from './stage.ts';

const SPEECH_MS = 1_200;
/** Tests that are held as calls in place of the first one: with sound no key is pressed while collect_digits waits for it. */
const CALLED: Readonly<Record<string, string>> = { bank: 'advisor-does-not-answer' };

afterAll(dispose);
const cluster = suiteFixture(startCluster);
const provider = suiteFixture(startProviderServer);
const helpDesk = suiteFixture(startHelpDeskServer);
const facade = suiteFixture(async () =>
  startFacade({
    database: { url: cluster.databaseUrl },
    kubeconfig: cluster.addresses.kubeconfigs.api,
    calls: { mediaServer: await realMediaServer() },
  }),
);
suiteFixture(startRoles);

/** Runs operator, worker and voice, whose providers are all the scripted one. */
async function startRoles() {
  const folder = await mkdtemp(join(tmpdir(), 'parley-recipes-'));
  const mediaServer = await realMediaServer();
  const names = ['openai', 'deepgram', 'elevenlabs', 'cartesia'];
  const shared = {
    PARLEY_PROVIDERS: JSON.stringify(names.map((name) => ({ name, baseURL: provider.url }))),
    PARLEY_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    LIVEKIT_URL: mediaServer.url,
    LIVEKIT_API_KEY: mediaServer.apiKey,
    LIVEKIT_API_SECRET: mediaServer.apiSecret,
    LIVEKIT_AGENT_NAME: mediaServer.agentName,
    STORAGE_URL: `file://${join(folder, 'files')}`,
    PARLEY_CALL_JOIN_SECONDS: '300',
  };
  await cluster.operator({ env: { PARLEY_EGRESS_ALLOW_CIDRS: '127.0.0.0/8' } });
  const worker = await startWorkerRole(
    workerEnv(cluster.databaseUrl, await temporalAddress(), { ...shared, KUBECONFIG: cluster.addresses.kubeconfigs.worker }),
    createLogger({ role: 'worker', level: 'error' }),
  );
  const voice = await startRole({
    ...process.env,
    ...shared,
    DATABASE_URL: cluster.databaseUrl,
    KUBECONFIG: cluster.addresses.kubeconfigs.worker,
    PARLEY_VOICE_SPOOL: join(folder, 'spool'),
    PARLEY_VOICE_DRAIN_MS: '30000',
  });
  return {
    async stop() {
      await voice.stop();
      await worker.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Says what users say in a voice, and knows it again by its mark; what agents say is short. */
function speakAndHear(userTexts: readonly string[]): void {
  const spoken = new Map<number, string>();
  let next = 0;
  provider.speech(({ input }) => {
    if (!userTexts.includes(input)) return { msPerCharacter: 10 };
    const mark = next % MARKS;
    next += 1;
    spoken.set(mark, input);
    return { raw: bytesOf(syntheticSpeech({ sampleRate: 24_000, ms: SPEECH_MS, mark })) };
  });
  provider.heard(({ marks }) => marks.map((mark) => spoken.get(mark)).join(' '));
}

describe.each(templateNames)('the recipe %s', (name) => {
  const documents = (part: string): readonly TestManifest[] =>
    readdirSync(join(recipeFolder(name), part))
      .filter((file) => file.endsWith('.yaml'))
      .flatMap((file) => readYaml(readFileSync(join(recipeFolder(name), part, file), 'utf8').replaceAll(HELP_DESK_URL, helpDesk.url)))
      .map(({ value }) => value as TestManifest);

  it('becomes Ready, passes its tests in the cluster, and holds a call', async () => {
    const org = await cluster.organization('recipe');
    const inOrg = (object: TestManifest): TestManifest => ({ ...object, metadata: { ...object.metadata, namespace: org } });
    const tests = documents('tests');
    const first = tests.find(({ metadata }) => metadata.name === (CALLED[name] ?? templates[name].firstTest))!;
    const { conversation } = first['spec'] as { readonly conversation: readonly { readonly user?: string }[] };
    const call: TestManifest = {
      ...first,
      metadata: { name: 'as-a-call' },
      spec: { ...(first['spec'] as object), mode: 'Audio', timeout: '4m' },
    };
    provider.chat(standIn(recipes[name]!).chat);
    speakAndHear(conversation.flatMap(({ user }) => user ?? []));

    // What people hear with holes is not to be taken for their end.
    const patient = (object: TestManifest): TestManifest =>
      object.kind === 'Agent'
        ? { ...object, spec: { ...(object['spec'] as object), turnDetection: { endOfSpeechDelay: '1500ms' } } }
        : object;
    const objects = [...documents('.'), ...documents('manifests').map(patient), ...tests, call].map(inOrg);
    await cluster.apply(...objects);
    const kinds = new Set(['Agent', 'Tool', 'KnowledgeBase', 'PhoneNumber', 'AgentTest']);
    for (const { kind, metadata } of objects) if (kinds.has(kind)) await cluster.ready(kind, org, metadata.name);
    for (const { kind, metadata } of objects.filter((object) => object.kind === 'KnowledgeBase'))
      await cluster.until(
        kind,
        org,
        metadata.name,
        ({ status }) => (status?.['documents'] as { completed?: number } | undefined)?.completed === 1,
      );

    await facade.store.organizations.create({ name: org }).catch(() => undefined);
    const { apiKey } = await facade.store.apiKeys.create({ org, name: 'test', permissions: ['*'], expirationDays: 1, userId: 'ada' });
    const done = await run(process.execPath, [parleyEntry, 'test', `agent/${name}`, '-n', org], {
      env: {
        PATH: process.env['PATH'],
        HOME: tmpdir(),
        KUBECONFIG: cluster.addresses.kubeconfig,
        PARLEY_URL: facade.url,
        PARLEY_API_KEY: apiKey,
        NO_COLOR: '1',
      },
    });
    expect([done.code, done.stderr, done.stdout]).toEqual([0, '', expect.stringContaining(`${tests.length + 1} passed, 0 failed`)]);
    expect(done.stdout).toMatch(/✓ as-a-call/);
  });
});
