/** A job process: serves several calls. The agent server starts it with the environment of the role. */
import { initializeLogger, type JobContext } from '@livekit/agents';
import { dispose } from '@livekit/rtc-node';

import { systemClock } from '../../platform/clock.ts';
import { ConfigError, loadConfig } from '../../platform/config/config.ts';
import { createLogger } from '../../platform/logging.ts';
import { openTracing } from '../../platform/telemetry/open-tracing.ts';
import { mediaServerOf } from '../../calls/media-server.ts';
import { createRooms } from '../../calls/rooms.ts';
import { createSipGateway } from '../../calls/sip/gateway.ts';
import { createSipGuard, guardedSipGateway } from '../../calls/sip/sip-guard.ts';
import { JobHost } from '../job-processes/job-host.ts';
import { RoleClient } from '../job-processes/role-client.ts';
import { ignoreSound, keepMediaLibraryQuiet, logLibrary } from '../livekit-patches/index.ts';
import { InboundCalls, OutboundCalls } from '../phone/index.ts';
import { CallJob } from './call-job.ts';
import { openServices } from './services.ts';

// Signals go to the whole process group, and the agent server decides when its calls end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
// The library rejects some promises that it has no use for.
process.on('unhandledRejection', () => undefined);

const config = loadConfig(process.env);
const logger = createLogger({ role: 'voice', level: config.PARLEY_LOG_LEVEL });
initializeLogger({ pretty: false, level: 'warn' });
logLibrary({ level: config.PARLEY_LOG_LEVEL });
keepMediaLibraryQuiet();
const mediaServer = mediaServerOf(config);
if (mediaServer === undefined) throw new ConfigError('the voice role needs a media server: set LIVEKIT_URL');
const tracing = await openTracing({ env: process.env, role: 'voice', logger });
const role = new RoleClient({ process, clock: systemClock });
const services = openServices(config, logger, role);
const rooms = createRooms(mediaServer);
const gateway = guardedSipGateway(createSipGateway(mediaServer), createSipGuard(config));
const phone = { inbound: new InboundCalls({ ...services, gateway }), outbound: new OutboundCalls({ ...services, gateway }), gateway };

const serve = (ctx: JobContext, stop: AbortSignal): Promise<void> => {
  ignoreSound(ctx.room);
  return new CallJob({ services, phone, rooms, stop }).run(ctx);
};
await new JobHost({ process, role, serve, logger }).run();

await services.close();
await tracing.close();
// The media library's threads must not outlive what they use.
await dispose();
process.exit(0);
