/** A card, a number and a name are said, looked up and repeated in a call: nothing that is kept of it has them. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { dispose } from '@livekit/rtc-node';
import { Client } from 'pg';
import { afterAll, expect, it, onTestFinished } from 'vitest';

import type { AgentRevisionConfig } from '../../../crds/agent-revision.ts';
import { TONE_HZ } from '../../../voice/recording/stereo-buffer.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFolder } from '../../support/folders.ts';
import { Servers, startEndpoint } from '../../support/http-servers.ts';
import { startOtlpReceiver } from '../../support/otlp-receiver.ts';
import { decodeOgg } from '../../support/ogg.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { frequencyOf } from '../../support/tones.ts';
import { heardIn, openRecordingStage } from './recording-stage.ts';

afterAll(dispose);
const folder = suiteFolder();
const servers = new Servers();
afterAll(() => servers.stop());
const collector = suiteFixture(startOtlpReceiver);
const found = { phone: '+49 30 901820', owner: 'Ada Lovelace' };
const shop = suiteFixture(() =>
  startEndpoint(servers, (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found))),
);
const stage = suiteFixture(() =>
  openRecordingStage(folder, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '200',
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
    PARLEY_LOG_LEVEL: 'debug',
  }),
);

const CARD = '4242424242424242';
const CANARIES = [CARD, '4242 4242', '4242', '901820', 'Ada Lovelace', 'four two four two'];
const QUESTION = 'I am Ada Lovelace and my card is 4242 4242 4242 4242';
const SAID = 'Thank you, Ada Lovelace.';
const SAFE = 'Is there anything else?';

const tool = (name: string, sensitive: boolean): AgentRevisionConfig['tools'][number] => ({
  name,
  functionName: name,
  spec: {
    type: 'Custom',
    messages: {},
    sensitive,
    custom: {
      function: { name, parameters: { type: 'object', properties: { card: { type: 'string' }, name: { type: 'string' } } } },
      http: { url: shop.url, method: 'POST', timeout: '20s' },
    },
  },
});

const canariesIn = (text: string): readonly string[] => CANARIES.filter((canary) => text.includes(canary));

/** Returns every row of every table as text. */
async function allRows(): Promise<readonly string[]> {
  const client = new Client({ connectionString: stage.env['DATABASE_URL'] });
  await client.connect();
  onTestFinished(() => client.end());
  const tables = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'parley'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
  );
  const rows: string[] = [];
  for (const { name } of tables.rows) {
    // Bodies of events are bytes.
    const column = name === 'event_bodies' ? `convert_from(body, 'UTF8')` : 't::text';
    const { rows: texts } = await client.query<{ text: string }>(`SELECT ${column} AS text FROM parley.${name} t`);
    rows.push(...texts.map(({ text }) => `${name}: ${text}`));
  }
  return rows;
}

async function allFiles(): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return Promise.all(entries.filter((entry) => entry.isFile()).map((entry) => readFile(join(entry.parentPath, entry.name), 'latin1')));
}

it('leaves nothing of it in rows, files, sound, log lines and spans', async () => {
  const call = await stage.call({
    spec: { redaction: { kinds: ['Card', 'Phone', 'Name'], byModel: true }, turnDetection: { endOfSpeechDelay: '1s' } },
    tools: [tool('look_up', false), tool('charge', true)],
  });
  const { provider, caller } = call;
  const sent: unknown[] = [];
  provider.chat(({ system, lastUser, toolResults }) => {
    if (system.startsWith('You find personal data'))
      return JSON.stringify({ found: lastUser.includes('Ada Lovelace') ? [{ kind: 'Name', text: 'Ada Lovelace' }] : [] });
    if (toolResults.length > 0) {
      sent.push(...toolResults);
      return SAID;
    }
    if (!lastUser.includes('card')) return SAFE;
    const args = { card: CARD, name: 'Ada Lovelace' };
    return {
      toolCalls: [
        { name: 'look_up', arguments: args },
        { name: 'charge', arguments: args },
      ],
    };
  });
  await call.join();
  await call.becomes({ status: 'ongoing' });
  await call.says('hello there', 1_500);
  await caller.hears(SAFE);
  // It is written down once it has been heard to its end: until then the question would interrupt it.
  await eventually(async () => expect(await call.messages()).toHaveLength(2));
  await call.says(QUESTION, 3_000);
  await caller.hears(SAID);
  await eventually(async () => expect(await call.messages()).toHaveLength(4));
  await caller.leave();
  const record = await call.becomes({ status: 'ended' });

  // The model and the tools got the real words.
  expect(JSON.stringify(sent)).toContain('901820');
  expect(shop.requests.map(({ body }) => JSON.parse(body) as unknown)).toContainEqual({ card: CARD, name: 'Ada Lovelace' });
  expect((await call.messages()).map(({ content }) => content)).toEqual([
    'hello there',
    SAFE,
    'I am [name] and my card is [card]',
    'Thank you, [name].',
  ]);
  expect((await call.toolCalls()).map(({ name, arguments: given, result }) => [name, given, result])).toEqual([
    ['look_up', { card: '[card]', name: '[name]' }, '{"phone":"[phone]","owner":"[name]"}'],
    ['charge', null, '[sensitive]'],
  ]);
  expect(record.redactions).toEqual({ card: 2, name: 4, phone: 1 });
  const metrics = await (await fetch(`http://127.0.0.1:${stage.role.port}/metrics`)).text();
  expect(metrics).toMatch(/^parley_redactions_total\{kind="card"\} 2/m);

  await eventually(() => expect(call.lines()).toContainEqual(expect.objectContaining({ msg: 'the call is over' })));
  await eventually(() => expect(collector.spans.map(({ name }) => name)).toContain('call'));
  expect((await allRows()).filter((row) => canariesIn(row).length > 0)).toEqual([]);
  expect((await allFiles()).flatMap(canariesIn)).toEqual([]);
  expect(canariesIn(stage.role.output())).toEqual([]);
  expect(canariesIn(JSON.stringify(collector.spans))).toEqual([]);

  // The recording has what is nobody's, and a tone in the place of the rest.
  const sound = await stage.soundOf(record);
  const [user, agent] = [heardIn(sound.left), heardIn(sound.right)];
  const isTone = ({ frequency }: { readonly frequency: number }): boolean => Math.abs(frequency - TONE_HZ) < 40;
  const answered = agent.filter(({ frequency }) => frequency === frequencyOf(SAFE));
  expect(answered.length).toBeGreaterThan(0);
  const behind = answered.at(-1)!.at;
  expect(user.filter((each) => each.at < behind && !isTone(each)).length).toBeGreaterThan(0);
  expect(user.filter((each) => each.at > behind && !isTone(each))).toEqual([]);
  expect(user.filter((each) => each.at > behind && isTone(each)).length).toBeGreaterThan(0);
  expect(agent.some(isTone)).toBe(true);
});

const answersIn = ({ right }: Awaited<ReturnType<typeof decodeOgg>>) =>
  heardIn(right).filter(({ frequency }) => frequency === frequencyOf(SAFE));

it('leaves no sound on a disk whose words a killed process did not know', async () => {
  const call = await stage.call({ spec: { redaction: { kinds: ['Card'] }, turnDetection: { endOfSpeechDelay: '1s' } } });
  call.provider.chat(() => SAFE);
  await call.join();
  await call.becomes({ status: 'ongoing' });
  await call.says('hello there', 1_500);
  await call.caller.hears(SAFE);
  await eventually(async () => expect(await call.messages()).toHaveLength(2));
  // The recogniser never says what the card was.
  const { promise: never } = Promise.withResolvers<string>();
  call.provider.heard(() => never);
  await call.caller.speak(3_000, { mark: 3 });
  await eventually(() => expect(call.provider.inFlight).toBeGreaterThan(0));
  await call.caller.speak(3_000, { mark: 4 });
  // Sound that waits for nothing is written a moment later.
  await eventually(async () => expect(answersIn(await decodeOgg(await call.spooled('audio.ogg')))).not.toEqual([]));
  const { process: pid } = JSON.parse((await call.spooled('call.json')).toString()) as { readonly process: string };
  process.kill(Number.parseInt(pid, 10), 'SIGKILL');
  const sound = await decodeOgg(await call.spooled('audio.ogg'));
  const answered = answersIn(sound);
  expect(heardIn(sound.left).some(({ at }) => at < answered[0]!.at)).toBe(true);
  expect(heardIn(sound.left).filter(({ at }) => at > answered.at(-1)!.at)).toEqual([]);
});

it('gives keys to the sensitive tool that wants them, and to nobody else', async () => {
  const tools = ['charge', 'collect_digits'].map((name) => ({ name, type: 'Passthrough' }));
  const call = await stage.call({ tools: [tool('charge', true)], test: { runId: 'run', testName: 'keys', tools } });
  const { provider, caller } = call;
  const asked: string[] = [];
  provider.chat(({ lastUser, toolResults }) => {
    asked.push(JSON.stringify(toolResults));
    if (toolResults.some((result) => JSON.stringify(result).includes('owner'))) return SAFE;
    const reference = /<keys-\d+>/.exec(JSON.stringify(toolResults))?.[0];
    if (reference !== undefined) return { toolCalls: [{ name: 'charge', arguments: { card: reference } }] };
    if (!lastUser.includes('pay')) return 'Hello.';
    return { toolCalls: [{ name: 'collect_digits', arguments: { count: 16, for: 'charge' } }] };
  });
  await call.join();
  await call.becomes({ status: 'ongoing' });
  await call.says('I want to pay', 1_500);
  await eventually(() => expect(provider.requests('chat').length).toBeGreaterThan(0));
  for (const key of CARD) await caller.room.localParticipant!.publishDtmf('0123456789*#'.indexOf(key), key);
  await caller.hears(SAFE);
  await caller.leave();
  const record = await call.becomes({ status: 'ended' });
  expect(shop.requests.map(({ body }) => JSON.parse(body) as unknown)).toContainEqual({ card: CARD });
  expect(asked.flatMap(canariesIn).filter((canary) => canary.startsWith('4242'))).toEqual([]);
  expect((await call.toolCalls()).map(({ name, arguments: given, result }) => [name, given, result])).toEqual([
    ['collect_digits', { count: 16, for: 'charge' }, '{"digits":"<keys-1>","count":16}'],
    ['charge', null, '[sensitive]'],
  ]);
  await eventually(() => expect(call.lines()).toContainEqual(expect.objectContaining({ msg: 'the call is over' })));
  const ours = ({ attributes }: { readonly attributes: object }): boolean => JSON.stringify(attributes).includes(call.id);
  await eventually(() => expect(collector.spans.some(ours)).toBe(true));
  expect((await allRows()).flatMap(canariesIn)).toEqual([]);
  expect([...canariesIn(stage.role.output()), ...canariesIn(JSON.stringify(collector.spans))]).toEqual([]);
  // Nothing is redacted of this agent, but the keys have a tone.
  expect(heardIn((await stage.soundOf(record)).left).some(({ frequency }) => Math.abs(frequency - TONE_HZ) < 40)).toBe(true);
});
