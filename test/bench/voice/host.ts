/**
 * Starts servers for a run: a Postgres that waits for its disk, LiveKit, and providers with fixed delays; a database of its own for the
 * run.
 * The measured processes are bound to one core, or to as many as asked for, where the system can do that (`taskset`), callers and
 * providers to the others; servers run on any.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { accessTokenOf, TOKEN_TTL_MS } from '../../../calls/access-token.ts';
import type { MediaServer } from '../../../calls/media-server.ts';
import { roomOf } from '../../../calls/names.ts';
import { createRooms } from '../../../calls/rooms.ts';
import { newCallId, openStore } from '../../../store/index.ts';
import { revisionOf } from '../../integration/store/support.ts';
import { TestStack } from '../../support/test-stack.ts';
import { bundle, ensureBundle } from '../harness/bundle.ts';
import { startChild } from '../harness/child.ts';
import { untilAtRest } from '../harness/process-tree.ts';
import { createDatabase, LOG_FOLDER, startRole, type BenchRole } from '../harness/role.ts';
import type { Interval } from './added-latency.ts';
import { benchAgent, type BenchAgentOptions } from './agent.ts';
import { callInOne, callTogether, type CallersProgram } from './callers.ts';
import type { CpuSamples } from './cpu-samples.ts';
import type { CallPlan, CallResult, KnownWords, CallersPlan } from './plan.ts';

const sources = fileURLToPath(new URL('../../../cli/main.ts', import.meta.url));

export interface PinnedRole extends BenchRole {
  /** Calls are dispatched to this name. */
  readonly agentName: string;
}

export interface VoiceHost {
  /** Cores to which the measured processes are bound; undefined if they share all with the rest. */
  readonly cores: number | undefined;
  /** Starts the voice role, with so many processes ready for the next calls. @param options.collector gets its traces */
  voiceRole(options: { readonly ready: number; readonly perProcess: number; readonly collector?: string }): Promise<PinnedRole>;
  /** Creates a call in a room of its own. @param agent options of this caller's first call @param role the role that takes it */
  call(caller: string, agent?: BenchAgentOptions, role?: Pick<PinnedRole, 'agentName'>): Promise<CallPlan & { readonly id: string }>;
  /** Creates a call without a room. */
  loopCall(caller: string): CallPlan;
  /** Runs callers over WebRTC, in processes of their own. */
  callers(plan: CallersPlan): Promise<readonly CallResult[]>;
  /** Runs agents and callers without rooms, in one process. */
  loop(plan: CallersPlan): Promise<{ readonly results: readonly CallResult[]; readonly cpu: CpuSamples }>;
  /** Returns when providers worked for this caller. */
  busy(caller: string): Promise<readonly Interval[]>;
  /** Returns what speech to text sent to this caller's agent, in the order of time. */
  words(caller: string): Promise<readonly KnownWords[]>;
  stop(): Promise<void>;
}

interface HostOptions {
  readonly progress: (line: string) => void;
  readonly fromSources: boolean;
  readonly cores: number;
  /** Most calls that the voice role takes. */
  readonly capacity: number;
}

export async function startHost({ progress, fromSources, cores: measured, capacity }: HostOptions): Promise<VoiceHost> {
  if (!fromSources) await ensureBundle(progress);
  const entry = fromSources ? sources : bundle;
  const own = new TestStack({ durable: true });
  const folder = await mkdtemp(join(tmpdir(), 'parley-bench-voice-'));
  const stopping: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true }), () => own.stop()];
  const stop = async (): Promise<void> => {
    for (const step of stopping.splice(0).toReversed()) await step();
  };
  try {
    progress('starting the servers');
    const cores = cpuSets(measured);
    const [server, livekit] = await Promise.all([own.databaseUrl(), own.mediaServer()]);
    const mediaServer: MediaServer = { ...livekit, publicUrl: livekit.url, agentName: 'parley-voice', joinSeconds: 300 };
    const org = `bench-${randomBytes(4).toString('hex')}`;
    const database = await createDatabase(server);
    const store = openStore({ databaseUrl: database.url, poolSize: 4, applicationName: 'bench' });
    stopping.push(() => store.close());
    await store.organizations.create({ name: org });
    await store.organizations.limitLiveCalls(org, 1_000);
    const providers = startChild({
      ...pinnedTo(cores?.others, fileURLToPath(new URL('./provider-process.ts', import.meta.url))),
      logFile: `${LOG_FOLDER}providers.log`,
    });
    stopping.push(() => providers.stop());
    await providers.until('listening', async () => /^\d+\n/m.test(providers.log()));
    const origin = `http://127.0.0.1:${/^(\d+)$/m.exec(providers.log())?.[1] ?? ''}`;
    const baseOf = (caller: string): string => `${origin}/${caller}/v1`;
    const common = {
      DATABASE_URL: database.url,
      STORAGE_URL: `file://${join(folder, 'files')}`,
      PARLEY_VOICE_SPOOL: join(folder, 'spool'),
      PARLEY_VOICE_CALLS: String(capacity),
      PARLEY_VOICE_DRAIN_MS: '1000',
      PARLEY_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      LIVEKIT_URL: mediaServer.url,
      LIVEKIT_API_KEY: mediaServer.apiKey,
      LIVEKIT_API_SECRET: mediaServer.apiSecret,
      NODE_ENV: 'production',
    };
    const voiceRole = async (more: NodeJS.ProcessEnv, agentName = mediaServer.agentName): Promise<PinnedRole> => {
      const role = await startRole({
        role: 'voice',
        env: { ...common, LIVEKIT_AGENT_NAME: agentName, ...more },
        program: pinnedTo(cores?.measured, entry, 'voice'),
      });
      stopping.push(() => role.stop());
      return { ...role, agentName };
    };
    const agents = new Map<string, { readonly agentName: string; readonly revision: string }>();
    const serve = async (
      caller: string,
      options?: BenchAgentOptions,
    ): Promise<{ readonly agentName: string; readonly revision: string }> => {
      const known = agents.get(caller);
      if (known !== undefined) return known;
      const config = benchAgent(baseOf(caller), options);
      const agent = { agentName: caller, revision: revisionOf(config).revision };
      await store.agentRevisions.put({ org, config, ...agent });
      await store.agentReleases.serve({ org, ...agent });
      agents.set(caller, agent);
      return agent;
    };

    return {
      cores: cores && measured,
      voiceRole: async ({ ready, perProcess, collector }) => {
        const processes = {
          PARLEY_VOICE_IDLE_PROCESSES: String(ready),
          PARLEY_VOICE_CALLS_PER_PROCESS: String(perProcess),
        };
        const voice =
          collector === undefined
            ? await voiceRole(processes)
            : await voiceRole({ ...processes, OTEL_EXPORTER_OTLP_ENDPOINT: collector }, 'parley-voice-traced');
        await untilAtRest(voice.pid);
        return voice;
      },
      async call(caller, options, { agentName } = mediaServer) {
        const id = newCallId();
        const base = { org, id, room: roomOf(id), TOKEN_TTL_MS, maxDurationMs: 1_800_000 };
        const agent = await serve(caller, options);
        await store.calls.calls.register({ ...base, ...agent, callType: 'web_call', agentName: caller, agentDisplayName: caller });
        await createRooms({ ...mediaServer, agentName }).open(id);
        const token = await accessTokenOf(mediaServer, { callId: id, expiresAt: new Date(Date.now() + TOKEN_TTL_MS), now: Date.now() });
        return { id, caller, baseURL: baseOf(caller), room: { url: mediaServer.url, token } };
      },
      loopCall: (caller) => ({ caller, baseURL: baseOf(caller) }),
      callers: (plan) => callTogether(pinnedTo(cores?.others, fileURLToPath(new URL('./caller-process.ts', import.meta.url))), plan),
      loop: (plan) => callInOne(pinnedTo(cores?.measured, fileURLToPath(new URL('./loop-process.ts', import.meta.url))), plan),
      words: async (caller) => (await (await fetch(`${origin}/${caller}/words`)).json()) as readonly KnownWords[],
      busy: async (caller) => (await (await fetch(`${origin}/${caller}/busy`)).json()) as readonly Interval[],
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface CpuSets {
  /** Cores as `taskset` wants them. */
  readonly measured: string;
  readonly others: string;
}

/** @throws Error where the machine has no core left for callers */
function cpuSets(measured: number): CpuSets | undefined {
  const count = availableParallelism();
  try {
    execFileSync('taskset', ['-V'], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  if (count === 1) return undefined;
  if (measured >= count) throw new Error(`--cores ${measured}: of the ${count} cores of this machine one at least is the callers'`);
  return { measured: `0-${measured - 1}`, others: `${measured}-${count - 1}` };
}

function pinnedTo(cpus: string | undefined, ...args: readonly string[]): CallersProgram {
  return cpus === undefined ? { file: process.execPath, args } : { file: 'taskset', args: ['-c', cpus, process.execPath, ...args] };
}
