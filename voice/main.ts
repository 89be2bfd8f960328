/** The voice role: an agent server of LiveKit's, which gives each call a process of its own. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { AgentServer, initializeLogger, ServerOptions } from '@livekit/agents';
import type { Registry } from 'prom-client';

import { CallLifecycle } from './calls/lifecycle.ts';
import { mediaServerOf } from './calls/media-server.ts';
import { createCredentials } from './calls/providers/index.ts';
import { openFileStorage } from '../knowledge/storage/open-file-storage.ts';
import { locateAsset } from '../platform/assets.ts';
import { systemClock } from '../platform/clock.ts';
import { ConfigError, type Config } from '../platform/config.ts';
import { Readiness, runUntilStopped, startProbeServer } from '../platform/lifecycle.ts';
import type { Logger } from '../platform/logging.ts';
import { openStore } from '../store/index.ts';
import { drainCalls } from './drain.ts';
import { lazyTransport } from './job/lazy-transport.ts';
import { changeAgentServerProcesses } from './agent-server-processes.ts';
import { liveCallsGauge, waitingRecordingsGauge } from './metrics.ts';
import { deskVariable, openCredentialDesk } from './providers/credential-desk.ts';
import { Registration } from './registration.ts';
import { createRecordings, ensureSpool, keepRecordings, prepareEncoder, spoolFolderOf } from './recording/index.ts';
import { TakenJobs } from './taken-jobs.ts';

export interface RunVoiceOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly registry: Registry;
  /** Stops the role, as SIGTERM does. */
  readonly signal?: AbortSignal;
}

/** A busy machine takes its time to start a process with all that a call needs, in milliseconds. */
const processStartMs = 60_000;
/** Beyond the calls themselves, for closing what they have used, in milliseconds. */
const closingMs = 15_000;
/** Whoever presses Ctrl-C waits no longer than this for calls, in milliseconds. */
const interruptedMs = 5_000;
/** For recordings that couldn't be saved at the end of their calls, in milliseconds. */
const lastLookMs = 10_000;

/**
 * Runs until SIGTERM: then it takes no more calls, and waits for those that it has. After SIGINT it waits for some seconds only.
 * @throws ConfigError without a database or a media server; what the agent server fails with
 */
export async function runVoice({ config, logger, registry, signal }: RunVoiceOptions): Promise<void> {
  const mediaServer = mediaServerOf(config);
  if (mediaServer === undefined) throw new ConfigError('the voice role needs a media server: set LIVEKIT_URL');
  if (config.DATABASE_URL === undefined) throw new ConfigError('DATABASE_URL is not set: calls are in Postgres');
  const readiness = new Readiness();
  const registration = new Registration({ readiness, clock: systemClock });
  const store = openStore({ databaseUrl: config.DATABASE_URL, poolSize: 2, applicationName: 'parley voice', logger, registry });
  const storage = openFileStorage({ url: config.STORAGE_URL });
  const spool = spoolFolderOf(config);
  const recordings = createRecordings({
    storage,
    calls: store.calls.calls,
    lifecycle: new CallLifecycle({ calls: store.calls.calls, clock: systemClock }),
    clock: systemClock,
    logger,
    spool,
  });
  const keeper = keepRecordings({ recordings, clock: systemClock, logger });
  await prepareSpool(spool, logger);
  // Its watch over the event loop is a thread of its own in each process, ready ones too, that wakes fifty times a second: a twentieth of what a call costs.
  process.env['LIVEKIT_AGENTS_LOOP_BLOCK_WARN_MS'] ??= '0';
  const cluster = lazyTransport(config, logger);
  const desk = await openCredentialDesk({ credentials: createCredentials({ transport: cluster, clock: systemClock }) });
  process.env[deskVariable] = desk.path;
  initializeLogger({ pretty: false, level: 'warn' });
  const taken = new TakenJobs(systemClock);
  changeAgentServerProcesses(taken);
  const live = (): number => server.activeJobs.length + taken.size;
  const capacity = config.PARLEY_VOICE_CALLS;
  const server = new AgentServer(
    new ServerOptions({
      agent: jobFile(),
      agentName: mediaServer.agentName,
      wsURL: mediaServer.url,
      apiKey: mediaServer.apiKey,
      apiSecret: mediaServer.apiSecret,
      // By calls, not by the processor's load alone: a call that was taken has to be served well to its end.
      loadFunc: async () => {
        registration.seen();
        return Math.min(1, live() / capacity);
      },
      loadThreshold: 1,
      requestFunc: async (job) => {
        if (live() >= capacity) return job.reject();
        taken.accepted(job.id);
        return job.accept('', `agent-${job.id}`);
      },
      // Ready before the calls come.
      numIdleProcesses: config.PARLEY_VOICE_IDLE_PROCESSES,
      initializeProcessTimeout: processStartMs,
      shutdownProcessTimeout: closingMs,
      maxRetry: Number.POSITIVE_INFINITY,
      // Its own server tells whoever asks what it does: not on a port, but next to the keys, where nothing of it is asked.
      port: join(dirname(desk.path), 'agent-server') as unknown as number,
      logLevel: 'warn',
    }),
  );
  server.event.on('worker_registered', () => {
    registration.seen();
    logger.info({ server: mediaServer.url, capacity }, 'registered with the media server');
  });
  registry.registerMetric(liveCallsGauge(live));
  registry.registerMetric(waitingRecordingsGauge(recordings));
  const probes = await startProbeServer({
    host: config.PARLEY_HOST,
    port: config.PARLEY_VOICE_PORT,
    readiness,
    registry,
    metricsToken: config.PARLEY_METRICS_TOKEN,
  });
  // Without it there is nothing to do here: whoever looks after the process starts another one.
  const failed = new AbortController();
  const running = server.run().catch((err: unknown) => {
    logger.error({ err }, 'the agent server has stopped');
    failed.abort(err);
  });
  let drainMs = config.PARLEY_VOICE_DRAIN_MS;
  process.once('SIGINT', () => (drainMs = Math.min(drainMs, interruptedMs)));
  await runUntilStopped({
    logger,
    readiness,
    timeoutMs: config.PARLEY_VOICE_DRAIN_MS + 2 * closingMs + lastLookMs,
    signal: AbortSignal.any([failed.signal, ...(signal === undefined ? [] : [signal])]),
    steps: [
      {
        name: 'storage',
        stop: async () => {
          storage.close();
          await desk.close();
          await cluster.close();
          await store.close();
        },
      },
      { name: 'probes', stop: () => probes.close() },
      { name: 'recordings', stop: () => keeper.close({ withinMs: lastLookMs }) },
      {
        name: 'agent server',
        stop: async () => {
          await server.close();
          await running;
          registration.close();
        },
      },
      { name: 'calls', stop: () => drainCalls({ server, live, timeoutMs: drainMs, clock: systemClock }) },
    ],
  });
  failed.signal.throwIfAborted();
}

/** Gives the jobs, which get the environment of the role, what they need to start fast and to write recordings at once. */
async function prepareSpool(spool: string, logger: Logger): Promise<void> {
  try {
    await ensureSpool(spool);
  } catch (err) {
    logger.error({ err, spool }, 'there is no place for recordings: there will be none');
    return;
  }
  // A fifth of what it takes to start a job is reading its code: the first one leaves that for the others.
  process.env['NODE_COMPILE_CACHE'] ??= join(spool, '.compile-cache');
  try {
    process.env['LIVEKIT_FFMPEG_PATH'] = await prepareEncoder({ spool, env: process.env });
  } catch (err) {
    logger.warn({ err, spool }, 'recordings are written late: of calls whose container is killed, the last minutes are lost');
  }
}

/** A file of its own: the agent server starts processes with it. */
function jobFile(): string {
  return locateAsset(import.meta.url, 'voice-job.mjs') ?? fileURLToPath(new URL('job/entry.ts', import.meta.url));
}
