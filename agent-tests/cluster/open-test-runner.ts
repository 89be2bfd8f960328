/** Opens what a process of the cluster needs to run tests: the services of calls, and a media server where there is one. */
import type { Search } from '../../knowledge/search/search.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Config } from '../../platform/config/config.ts';
import type { EgressGuard } from '../../platform/egress/egress.ts';
import type { Logger } from '../../platform/logging.ts';
import type { Measurement } from '../../platform/telemetry/gen-ai/model-requests.ts';
import type { Store } from '../../store/index.ts';
import { CallLifecycle } from '../../calls/lifecycle.ts';
import { mediaServerOf } from '../../calls/media-server.ts';
import type { ProviderKeyReader } from '../../calls/provider-access/index.ts';
import { createRooms } from '../../calls/rooms.ts';
import { createToolServices } from '../../voice/tools/services.ts';
import type { TestResult } from '../result.ts';
import { evaluate, type TestToRun } from './evaluate.ts';

export interface TestRunner {
  /** @throws the signal's reason */
  evaluate(test: TestToRun): Promise<TestResult>;
  close(): void;
}

export interface OpenTestRunnerOptions {
  readonly config: Config;
  readonly store: Pick<Store, 'calls' | 'agentRevisions'>;
  readonly search: Pick<Search, 'search'>;
  readonly egress: EgressGuard;
  readonly keys: ProviderKeyReader;
  /** Called for each request to a model. */
  readonly measure: (measurement: Measurement) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Connects to nothing before it is used. */
export function openTestRunner({ config, store, search, egress, keys, measure, clock, logger }: OpenTestRunnerOptions): TestRunner {
  const mediaServer = mediaServerOf(config);
  const tools = createToolServices({ config, clock });
  const { calls } = store;
  const audio = mediaServer && {
    mediaServer,
    rooms: createRooms(mediaServer),
    lifecycle: new CallLifecycle({ calls: calls.calls, clock }),
    calls,
    clock,
    logger,
  };
  const services = {
    keys,
    defaults: config.PARLEY_PROVIDERS,
    env: process.env,
    tools: { ...tools, search },
    prices: config.PARLEY_PRICES,
    measure,
    clock,
    logger,
  };
  const judge = config.PARLEY_TEST_JUDGE;
  return {
    evaluate: (test) =>
      evaluate({ services: { ...services, egress: egress.for(test.run.org) }, agents: store.agentRevisions, audio, judge }, test),
    close: () => tools.close(),
  };
}
