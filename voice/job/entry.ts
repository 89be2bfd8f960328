/** The entry point of job processes: the agent server starts them with the environment of the role. */
import { defineAgent, type JobContext } from '@livekit/agents';

import { mediaServerOf } from '../calls/media-server.ts';
import { createRooms } from '../calls/rooms.ts';
import { createSipGateway } from '../calls/sip/gateway.ts';
import { guardedSipGateway } from '../calls/sip/sip-guard.ts';
import { createSipGuard } from '../calls/sip/sip-guard.ts';
import { ConfigError, loadConfig } from '../../platform/config/config.ts';
import { createLogger } from '../../platform/logging.ts';
import { loadTracing, openTracing } from '../../platform/telemetry/open-tracing.ts';
import { InboundCalls, OutboundCalls } from '../phone/index.ts';
import { logLibrary, patchSessions } from '../livekit-patches/index.ts';
import { CallJob } from './call-job.ts';
import { openServices } from './services.ts';
import { stopSignalOf } from './stop-signal.ts';

// Loaded while an idle process waits for its call.
loadTracing(process.env);
patchSessions();

export default defineAgent({
  async entry(ctx) {
    const left = Promise.withResolvers<void>();
    // Without this the process would end 15 s after the room is left, even while the recording is being saved.
    ctx.addShutdownCallback(() => left.promise);
    try {
      await runCall(ctx);
    } finally {
      left.resolve();
    }
  },
});

async function runCall(ctx: JobContext): Promise<void> {
  const config = loadConfig(process.env);
  const logger = createLogger({ role: 'voice', level: config.PARLEY_LOG_LEVEL });
  logLibrary({ level: config.PARLEY_LOG_LEVEL, fields: { jobId: ctx.job.id }, once: true });
  await using opened = new AsyncDisposableStack();
  try {
    const mediaServer = mediaServerOf(config);
    if (mediaServer === undefined) throw new ConfigError('the voice role needs a media server: set LIVEKIT_URL');
    const tracing = await openTracing({ env: process.env, role: 'voice', logger });
    opened.defer(() => tracing.close());
    const services = openServices(config, logger);
    opened.defer(() => services.close());
    const gateway = guardedSipGateway(createSipGateway(mediaServer), createSipGuard(config));
    const phone = { inbound: new InboundCalls({ ...services, gateway }), outbound: new OutboundCalls({ ...services, gateway }), gateway };
    await new CallJob({ services, phone, rooms: createRooms(mediaServer), stop: stopSignalOf(process) }).run(ctx);
  } catch (err) {
    logger.error({ err, jobId: ctx.job.id }, 'the job failed');
    throw err;
  }
}
