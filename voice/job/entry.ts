/** What each job process runs. It is started by the agent server, with the environment of the role. */
import { defineAgent } from '@livekit/agents';

import { CallLifecycle } from '../../calls/lifecycle.ts';
import { systemClock } from '../../platform/clock.ts';
import { ConfigError, loadConfig } from '../../platform/config.ts';
import { createLogger } from '../../platform/logging.ts';
import { openStore } from '../../store/index.ts';
import { CallJob } from './call-job.ts';

export default defineAgent({
  async entry(ctx) {
    const config = loadConfig(process.env);
    if (config.DATABASE_URL === undefined) throw new ConfigError('DATABASE_URL is not set: calls are in Postgres');
    const logger = createLogger({ role: 'voice', level: config.PARLEY_LOG_LEVEL });
    const store = openStore({ databaseUrl: config.DATABASE_URL, poolSize: 2, applicationName: 'parley voice job', logger });
    try {
      const lifecycle = new CallLifecycle({ calls: store.calls.calls, clock: systemClock });
      await new CallJob({ store, lifecycle, clock: systemClock, logger }).run(ctx);
    } finally {
      await store.close();
    }
  },
});
