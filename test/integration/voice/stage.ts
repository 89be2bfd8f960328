/** Runs the voice role as a process, with agents as Postgres has them, scripted providers, and callers. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { aroundEach, expect } from 'vitest';

import { accessTokenOf, TOKEN_TTL_MS } from '../../../calls/access-token.ts';
import { AgentRedispatcher } from '../../../calls/agent-redispatcher.ts';
import { callSettingsOf } from '../../../calls/call-settings.ts';
import type { MediaServer } from '../../../calls/media-server.ts';
import { roomOf } from '../../../calls/names.ts';
import { createRooms } from '../../../calls/rooms.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createLogger } from '../../../platform/logging.ts';
import { agentKind } from '../../../crds/agent.ts';
import type { AgentRevisionConfig } from '../../../crds/agent-revision.ts';
import {
  newCallId,
  type CallMessage,
  type CallToolCall,
  type CallRecord,
  type CallTurn,
  type Store,
  type TestOfCall,
} from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { mediaServer } from '../../support/media-server.ts';
import { migratedDatabase, openPatientStore } from '../../support/postgres.ts';
import { startProviderServer, type ProviderServer } from '../../support/provider-server.ts';
import { MARKS } from '../../support/synthetic-speech.ts';
import { allLeave, TestCaller } from '../../support/test-caller.ts';
import { parleyEntry } from '../../support/stack.ts';
import { aCall } from '../store/calls-support.ts';

export interface StagedRole {
  readonly process: ChildProcess;
  readonly port: number;
  output(): string;
  /** Returns the role's log lines, parsed. */
  lines(): readonly Readonly<Record<string, unknown>>[];
  stop(): Promise<void>;
}

/** Fields of an agent beyond its providers, as resources have them. */
export interface AgentWish {
  /** Name of the agent; `receptionist` by default. */
  readonly name?: string;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly systemPrompt?: string;
  readonly tools?: AgentRevisionConfig['tools'];
  readonly knowledgeBase?: string;
}

export interface CallWish extends AgentWish {
  readonly dynamicData?: Readonly<Record<string, unknown>>;
  /** Agents that the call may be handed over to. */
  readonly others?: readonly (AgentWish & { readonly name: string })[];
  /** The test that the call belongs to: its user has a keypad. */
  readonly test?: TestOfCall;
  /** Trace of the test that registers the call. */
  readonly traceparent?: string;
  /** Provider of the call. Default: all goes well, and the user is understood as "hello". */
  readonly provider?: ProviderServer;
  /** Revision of another test's agent. */
  readonly revision?: string;
}

export interface StagedCall {
  readonly id: string;
  readonly provider: ProviderServer;
  readonly caller: TestCaller;
  /** Opens the room. @returns the address and token with which a caller of another process joins */
  open(): Promise<{ readonly url: string; readonly token: string }>;
  /** Joins the room, with a microphone. */
  join(options?: { readonly microphone?: boolean }): Promise<void>;
  /** The user says this, and is understood by the agent's provider, or by those. See {@link sayOnce}. */
  says(text: string, ms?: number, servers?: readonly ProviderServer[]): Promise<void>;
  record(): Promise<CallRecord>;
  /** Waits until the call looks like this. */
  becomes(expected: Partial<CallRecord>): Promise<CallRecord>;
  messages(): Promise<readonly CallMessage[]>;
  toolCalls(): Promise<readonly CallToolCall[]>;
  turns(): Promise<readonly CallTurn[]>;
  /** Reads a file of the call's recording, as its process has written it so far. */
  spooled(file: string): Promise<Buffer>;
  /** Returns the log lines of this call. */
  lines(): readonly Readonly<Record<string, unknown>>[];
}

export interface VoiceStage {
  readonly org: string;
  readonly store: Store;
  readonly server: MediaServer;
  readonly env: NodeJS.ProcessEnv;
  /** The role that takes calls; a test may replace it. */
  role: StagedRole;
  startRole(change?: NodeJS.ProcessEnv): Promise<StagedRole>;
  /** Stores a revision. @returns it */
  agent(wish: AgentWish, provider: ProviderServer): Promise<{ readonly revision: string; readonly config: AgentRevisionConfig }>;
  /** Registers a call of an agent of its own. */
  call(wish?: CallWish): Promise<StagedCall>;
  /** Registers a call, and joins it. */
  joined(wish?: CallWish): Promise<StagedCall>;
  close(): Promise<void>;
}

/** Callers of the test that runs. */
const callersOfTest = new AsyncLocalStorage<TestCaller[]>();

/** Every caller leaves, because a call that goes on takes a twentieth of a processor from the tests after it. */
aroundEach(async (runTest) => {
  const callers: TestCaller[] = [];
  await callersOfTest.run(callers, runTest);
  await allLeave(callers);
});

export interface StageOptions {
  /** Media server in place of the shared one. */
  readonly server?: MediaServer;
  /** Returns the address at which the role reaches the database; the test's, by default. */
  readonly roleDatabase?: (url: string) => string | Promise<string>;
  /** Leaves out what the worker does for users who wait because a busy voice role missed their call. */
  readonly redispatches?: false;
}

export async function openStage(change: NodeJS.ProcessEnv = {}, options: StageOptions = {}): Promise<VoiceStage> {
  const org = 'callers';
  const { url } = await migratedDatabase();
  const store = openPatientStore(url);
  await store.organizations.create({ name: org });
  await store.organizations.limitLiveCalls(org, 100);
  const server = options.server ?? (await mediaServer());
  const folder = await mkdtemp(join(tmpdir(), 'parley-voice-'));
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    DATABASE_URL: (await options.roleDatabase?.(url)) ?? url,
    LIVEKIT_URL: server.url,
    LIVEKIT_API_KEY: server.apiKey,
    LIVEKIT_API_SECRET: server.apiSecret,
    LIVEKIT_AGENT_NAME: server.agentName,
    PARLEY_VOICE_DRAIN_MS: '30000',
    PARLEY_VOICE_CALLS: '40',
    // Calls that begin at once wait for no process.
    PARLEY_VOICE_IDLE_PROCESSES: '4',
    // A busy machine takes its time between a registration and the user.
    PARLEY_CALL_JOIN_SECONDS: '300',
    PARLEY_VOICE_SPOOL: join(folder, 'spool'),
    STORAGE_URL: `file://${join(folder, 'files')}`,
    PARLEY_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    ...change,
  };
  const closed = new AbortController();
  const roles: StagedRole[] = [];
  const providers: ProviderServer[] = [];
  const callers: TestCaller[] = [];

  const stage: VoiceStage = {
    org,
    store,
    server,
    env,
    role: undefined as never,
    async startRole(more = {}) {
      const role = await startRole({ ...env, ...more });
      roles.push(role);
      return role;
    },
    async agent({ name = 'receptionist', spec = {}, systemPrompt, tools = [], knowledgeBase }, provider) {
      const speech = { provider: 'openai_compatible', baseURL: provider.url };
      const { llm, speechToText, textToSpeech, call, ...rest } = spec;
      const parsed = agentKind.spec.parse({
        llm: { provider: 'openai_compatible', model: 'test-model', baseURL: provider.url, ...(llm as object) },
        speechToText: { ...speech, model: 'test-ears', ...(speechToText as object) },
        textToSpeech: { ...speech, model: 'test-voice', ...(textToSpeech as object) },
        // On a busy machine all of a test may last longer than the silence that is allowed by default, and no caller expects to be asked for it.
        call: { endAfterSilence: '600s', ...(call as object) },
        ...rest,
      });
      const { suspend: _suspend, displayName: _name, knowledgeBaseRef: _ref, ...agent } = parsed;
      const config: AgentRevisionConfig = {
        format: 1,
        name,
        displayName: name === 'receptionist' ? 'Receptionist' : name,
        agent,
        systemPrompt: systemPrompt ?? null,
        tools,
        knowledgeBase: knowledgeBase ?? null,
        versions: { secrets: {}, knowledgeBaseUid: null },
      };
      const revision = createHash('sha256').update(JSON.stringify(config)).digest('hex');
      await store.agentRevisions.put({ org, agentName: name, revision, config });
      return { revision, config };
    },
    async call(wish = {}) {
      const provider = wish.provider ?? (await startProviderServer());
      if (wish.provider === undefined) {
        providers.push(provider);
        provider.heard(() => 'hello');
        // On a busy machine a question has holes, and is two.
        provider.chat(({ lastUser }) => `I heard: ${lastUser.replace(/^hello( hello)+$/, 'hello')}`);
      }
      const { revision, config } = await stage.agent(wish, provider);
      const others = await Promise.all(
        (wish.others ?? []).map(async (other) => ({
          agentName: other.name,
          revision: (await stage.agent(other, provider)).revision,
          canary: false,
        })),
      );
      const id = newCallId();
      const caller = new TestCaller();
      callers.push(caller);
      callersOfTest.getStore()?.push(caller);
      const registration = await store.calls.calls.register(
        aCall(org, {
          id,
          room: roomOf(id),
          tokenTtlMs: TOKEN_TTL_MS,
          revision: wish.revision ?? revision,
          others,
          maxDurationMs: callSettingsOf(config).maxDurationMs,
          recordingEnabled: callSettingsOf(config).recordingEnabled,
          ...(wish.dynamicData && { dynamicData: wish.dynamicData }),
          ...(wish.test && { test: wish.test }),
          traceparent: wish.traceparent,
        }),
      );
      expect(registration.outcome).toBe('registered');
      const open = async (): Promise<{ readonly url: string; readonly token: string }> => {
        // The api makes the room so, with the call. A media server that has not reported its load for 5 s opens none.
        await eventually(() => createRooms(server).open(id));
        const call = await store.calls.calls.get({ org, id });
        const keys = wish.test !== undefined;
        const token = await accessTokenOf(server, { callId: id, expiresAt: call!.tokenExpiresAt!, now: Date.now(), keys });
        return { url: server.url, token };
      };
      const lines = () => roles.flatMap((role) => role.lines()).filter(({ callId }) => callId === id);
      return {
        id,
        provider,
        caller,
        open,
        join: async ({ microphone = true } = {}) => caller.join({ ...(await open()), microphone }),
        says: (text, ms, servers = [provider]) => sayOnce({ caller, servers, text, ms }),
        record: async () => (await store.calls.calls.get({ org, id }))!,
        becomes: (expected) =>
          eventually(async () => {
            const call = await store.calls.calls.get({ org, id });
            expect(call, JSON.stringify([call?.status, call?.finishReason, ...lines()])).toMatchObject(expected);
            return call!;
          }),
        messages: async () => (await store.calls.log.read({ org, id })).messages,
        toolCalls: async () => (await store.calls.log.read({ org, id })).toolCalls,
        turns: async () => (await store.calls.log.read({ org, id })).turns,
        async spooled(file) {
          const spool = env['PARLEY_VOICE_SPOOL']!;
          const name = (await readdir(spool)).find((each) => each.startsWith(id));
          return readFile(join(spool, name ?? '', file));
        },
        lines,
      };
    },
    async joined(wish) {
      const call = await stage.call(wish);
      await call.join();
      return call;
    },
    async close() {
      closed.abort();
      await allLeave(callers);
      await Promise.all(roles.map((role) => role.stop()));
      await Promise.all(providers.map((provider) => provider.close()));
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  stage.role = await stage.startRole();
  if (options.redispatches !== false) void redispatcherOf(stage).run(closed.signal);
  return stage;
}

/** Mark of each caller's last words. */
const lastMarks = new WeakMap<TestCaller, number>();

/**
 * Has the caller say this, and be understood once. A busy machine leaves holes in the sound: the first piece of it has all the words, what
 * comes later has none, nor has a late piece of what was said before, and where nothing came through it is said again.
 */
export async function sayOnce(said: {
  readonly caller: TestCaller;
  /** Providers that understand the words. */
  readonly servers: readonly ProviderServer[];
  readonly text: string;
  readonly ms?: number | undefined;
}): Promise<void> {
  const { caller, servers, text, ms } = said;
  const mark = ((lastMarks.get(caller) ?? -1) + 1) % MARKS;
  lastMarks.set(caller, mark);
  const understood = Promise.withResolvers<true>();
  for (const server of servers) {
    let pieces = 0;
    server.heard(({ marks }) => {
      if (!marks.includes(mark)) return '';
      understood.resolve(true);
      pieces += 1;
      return pieces === 1 ? text : '';
    });
  }
  do await caller.speak(ms, { mark });
  while (!(await Promise.race([understood.promise, delay(30_000, false, { ref: false })])));
}

/** Makes a redispatcher like the worker's. */
export function redispatcherOf({ store, server }: Pick<VoiceStage, 'store' | 'server'>): AgentRedispatcher {
  const logger = createLogger({ role: 'worker', level: 'silent' });
  return new AgentRedispatcher({ store: store.calls, rooms: createRooms(server), clock: systemClock, random: Math.random, logger });
}

/** Starts a voice role on a port of its own; resolves when it is ready. */
export async function startRole(env: NodeJS.ProcessEnv): Promise<StagedRole> {
  const port = await freePort();
  const child = spawn(process.execPath, [parleyEntry, 'voice'], {
    env: { ...env, PARLEY_VOICE_PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ready = eventually(async () => child.exitCode ?? expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200));
  if (typeof (await ready) === 'number') throw new Error(`the role has ended: ${output}`);
  return {
    process: child,
    port,
    output: () => output,
    lines: () =>
      output.split('\n').flatMap((line): Readonly<Record<string, unknown>>[] => {
        try {
          return line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : [];
        } catch {
          return [];
        }
      }),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}
