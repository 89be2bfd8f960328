/** The role `voice`: an agent server of LiveKit's, whose calls have job processes of their own or share them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { AgentServer, initializeLogger, ServerOptions } from '@livekit/agents';

import { openFileStorage } from '../knowledge/storage/open-file-storage.ts';
import { locateAsset } from '../platform/assets.ts';
import { ConfigError } from '../platform/config/config.ts';
import type { Logger } from '../platform/logging.ts';
import { createGenAiMetrics } from '../platform/telemetry/gen-ai/gen-ai-metrics.ts';
import { runRole, type RoleContext, type RoleOptions } from '../platform/role.ts';
import { openStore } from '../store/index.ts';
import { AcceptedJobs } from './accepted-jobs.ts';
import { CallLifecycle } from '../calls/lifecycle.ts';
import { mediaServerOf } from '../calls/media-server.ts';
import { createProviderKeyReader } from '../calls/provider-access/index.ts';
import { countTokens, loadTokenizer } from '../calls/usage/count-tokens.ts';
import { redactionsCounter } from '../calls/redaction/metrics.ts';
import { usageMetrics } from '../calls/usage/usage-metrics.ts';
import { drainCalls } from './drain.ts';
import { freePlaces, type FreePlaces } from './free-places.ts';
import { lazyTransport } from './job/lazy-transport.ts';
import { JobProcesses } from './job-processes/job-processes.ts';
import type { RoleServices } from './job-processes/messages.ts';
import { answersWithKeys } from './job-processes/key-answers.ts';
import { logLibrary, replaceProcessPool } from './livekit-patches/index.ts';
import { MediaServerReadiness } from './media-server-readiness.ts';
import { freePlacesGauge, liveCallsGauge, takeoversCounter, waitingRecordingsGauge } from './metrics.ts';
import { PlaceReports } from './report-places.ts';
import { Recordings, ensureSpool, uploadRecordings, spoolFolderOf } from './recording/index.ts';
import { SharedTurnModel } from './sound/shared-turn-model.ts';

/** Longest time that a busy machine may take to start a process with all that a call needs, in milliseconds. */
const PROCESS_START_MS = 60_000;
/**
 * Number of calls after which a job process that several share is replaced: of each room the media library keeps what makes the next ones
 * dearer (docs/adr/0045).
 */
const CALLS_OF_A_PROCESS = 100;
/** Longest wait for calls that have to end, and for storing their usage, in milliseconds each. */
const CLOSING_MS = 15_000;
/** Longest wait for calls after Ctrl-C, in milliseconds. */
const INTERRUPTED_MS = 5_000;
/** Longest wait for recordings that could not be uploaded at the end of their calls, in milliseconds. */
const LAST_UPLOAD_MS = 10_000;

/**
 * Runs until SIGTERM: then it accepts no more calls and waits for its own. After SIGINT it waits for some seconds only.
 * @throws ConfigError without a database or a media server; LiveKitError; what the agent server fails with
 */
export function runVoice(options: RoleOptions): Promise<void> {
  const stopTimeoutMs = options.config.PARLEY_VOICE_DRAIN_MS + 2 * CLOSING_MS + LAST_UPLOAD_MS;
  return runRole(options, { name: 'voice', database: 'stores calls in Postgres', stopTimeoutMs, start });
}

async function start({ config, databaseUrl, logger, registry, clock, readiness, ...role }: RoleContext): Promise<void> {
  const mediaServer = mediaServerOf(config);
  if (mediaServer === undefined) throw new ConfigError('the voice role needs a media server: set LIVEKIT_URL');
  const accepted = new AcceptedJobs(clock);
  const capacity = config.PARLEY_VOICE_CALLS;
  const cores = availableParallelism();
  const inference = new SharedTurnModel(logger);
  const file = jobFile();
  const connection = new MediaServerReadiness({ readiness, clock });
  const store = openStore({ databaseUrl, poolSize: 2, applicationName: 'parley voice', logger, registry });
  role.onStop('store', () => store.close());
  const storage = openFileStorage({ url: config.STORAGE_URL });
  role.onStop('storage', () => storage.close());
  const cluster = lazyTransport(config, logger);
  role.onStop('kubernetes', () => cluster.close());
  const takeovers = takeoversCounter();
  registry.registerMetric(takeovers);
  const redactions = redactionsCounter([registry]);
  const genAiMetrics = createGenAiMetrics(registry);
  const recordUsage = usageMetrics(registry);
  void loadTokenizer();
  const services: RoleServices = {
    infer: (method, data) => inference.doInference(method, data),
    readKey: answersWithKeys(createProviderKeyReader({ transport: cluster, clock })),
    countTokens,
    reportTakeover: async (part) => takeovers.inc({ part }),
    reportRedaction: async (kind) => redactions.inc({ kind }),
    reportMeasurements: async (measurements) => measurements.forEach((measurement) => genAiMetrics.record(measurement)),
    reportUsage: async (report) => recordUsage(report),
  };
  const processes = new JobProcesses({
    file,
    limits: {
      callsPerProcess: config.PARLEY_VOICE_CALLS_PER_PROCESS,
      idleProcesses: config.PARLEY_VOICE_IDLE_PROCESSES,
      memoryBytes: config.PARLEY_VOICE_PROCESS_MEMORY_MB * 1e6,
      maxServed: config.PARLEY_VOICE_CALLS_PER_PROCESS === 1 ? 1 : CALLS_OF_A_PROCESS,
    },
    capacity,
    cores,
    accepted,
    services,
    clock,
    logger,
    startMs: PROCESS_START_MS,
    closeMs: 2 * CLOSING_MS,
  });
  replaceProcessPool(processes, inference);
  const folder = await mkdtemp(join(tmpdir(), 'parley-voice-'));
  role.onStop('socket', () => rm(folder, { recursive: true, force: true }));
  const spool = spoolFolderOf(config);
  const { calls, deletions } = store.calls;
  const recordings = new Recordings({ storage, calls, deletions, lifecycle: new CallLifecycle({ calls, clock }), clock, logger, spool });
  const uploader = uploadRecordings({ recordings, clock, logger });
  role.onStop('recordings', () => uploader.close({ withinMs: LAST_UPLOAD_MS }));
  await prepareSpool(spool, logger);
  // The library's event loop monitor would be a thread in each process, idle ones too, that wakes fifty times a second: a twentieth of what a call costs.
  process.env['LIVEKIT_AGENTS_LOOP_BLOCK_WARN_MS'] ??= '0';
  // The media library would log each step of a connection otherwise.
  process.env['NODE_ENV'] ??= 'production';
  process.env['RUST_LOG'] ??= 'off';
  initializeLogger({ pretty: false, level: 'warn' });
  logLibrary({ level: config.PARLEY_LOG_LEVEL });
  const live = (): number => server.activeJobs.length + accepted.size;
  const places = (): FreePlaces => {
    const { ready, beginning, startMs } = processes.places;
    const waiting = accepted.size;
    return freePlaces({
      capacity,
      live: live(),
      waiting,
      beginning: beginning + waiting,
      readyPlaces: ready,
      callsPerProcess: config.PARLEY_VOICE_CALLS_PER_PROCESS,
      startMs,
      cores,
      withinMs: config.PARLEY_VOICE_WELCOME_SECONDS * 1_000,
    });
  };
  const server = new AgentServer(
    new ServerOptions({
      agent: file,
      agentName: mediaServer.agentName,
      wsURL: mediaServer.url,
      apiKey: mediaServer.apiKey,
      apiSecret: mediaServer.apiSecret,
      // Load is counted by calls, not by CPU alone: a call that was accepted has to be served well to its end.
      loadFunc: async () => {
        connection.seen();
        return Math.min(1, live() / capacity);
      },
      loadThreshold: 1,
      requestFunc: async (job) => {
        if (live() >= capacity) return job.reject();
        accepted.accepted(job.id);
        return job.accept('', `agent-${job.id}`);
      },
      maxRetry: Number.POSITIVE_INFINITY,
      // The library's HTTP server describes the worker to anyone who asks: so it listens on a socket in a private folder, not on a port.
      port: join(folder, 'agent-server') as unknown as number,
      logLevel: 'warn',
    }),
  );
  const reports = new PlaceReports({ servers: store.voiceServers, agentName: mediaServer.agentName, places, clock, logger });
  server.event.on('worker_registered', () => {
    connection.seen();
    reports.begin();
    logger.info({ server: mediaServer.url, capacity }, 'registered with the media server');
  });
  registry.registerMetric(liveCallsGauge(live));
  registry.registerMetric(freePlacesGauge(() => places().free));
  registry.registerMetric(waitingRecordingsGauge(recordings));
  await role.serveProbes(config.PARLEY_VOICE_PORT);
  role.onStop('connection', () => connection.close());
  // Without the agent server the role has nothing to do: its supervisor restarts it.
  role.background('agent server', server.run());
  role.onStop('agent server', () => server.close());
  role.onStop('calls', (reason) => {
    const drainMs = reason === 'SIGINT' ? Math.min(config.PARLEY_VOICE_DRAIN_MS, INTERRUPTED_MS) : config.PARLEY_VOICE_DRAIN_MS;
    return drainCalls({ server, live, timeoutMs: drainMs, clock });
  });
  role.onStop('places', () => reports.close());
}

/** Prepares the environment of the jobs, which inherit it, so that they start fast and write recordings at once. */
async function prepareSpool(spool: string, logger: Logger): Promise<void> {
  try {
    await ensureSpool(spool);
  } catch (err) {
    logger.error({ err, spool }, 'cannot create the recording spool; calls will not be recorded');
    return;
  }
  // A fifth of a job's start is reading its code: the first job leaves the compiled code to the others.
  process.env['NODE_COMPILE_CACHE'] ??= join(spool, '.compile-cache');
}

/** Returns the file with which the agent server starts processes. */
function jobFile(): string {
  return locateAsset(import.meta.url, 'voice-job.mjs') ?? fileURLToPath(new URL('job/entry.ts', import.meta.url));
}
