/** Gives conversations in text what they need of this process, without a cluster, a database or a media server. */
import type { TextServices } from '../../agent-tests/text/text-call.ts';
import { SearchUnavailableError } from '../../knowledge/search/search.ts';
import { awakeClock } from '../../platform/clock.ts';
import { loadConfig } from '../../platform/config/config.ts';
import { createEgress, INSTALLATION } from '../../platform/egress/egress.ts';
import { createLogger } from '../../platform/logging.ts';
import { createToolServices } from '../../voice/tools/services.ts';
import { withProviderVariables } from '../agent-files/keys.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface OpenTextServices {
  readonly services: Omit<TextServices, 'keys'>;
  readonly judge: string | undefined;
  close(): void;
}

export function openTextServices(env: Environment): OpenTextServices {
  const { PARLEY_PROVIDERS, PARLEY_SMTP_SERVERS, PARLEY_CALENDAR_URL, PARLEY_TEST_JUDGE, PARLEY_PRICES, PARLEY_LOG_LEVEL } = loadConfig({
    PARLEY_LOG_LEVEL: 'silent',
    ...Object.fromEntries(
      ['PARLEY_PROVIDERS', 'PARLEY_SMTP_SERVERS', 'PARLEY_CALENDAR_URL', 'PARLEY_TEST_JUDGE', 'PARLEY_PRICES'].map((name) => [
        name,
        env[name],
      ]),
    ),
  });
  const clock = awakeClock;
  // The files are those of the person who runs this: they may name a server on their machine.
  const egress = createEgress({ allowCidrs: ['0.0.0.0/0', '::/0'], allowedPorts: '1-65535', clock });
  const own = createToolServices({ config: { PARLEY_SMTP_SERVERS, PARLEY_CALENDAR_URL }, clock });
  const search = { search: () => Promise.reject(new SearchUnavailableError('there is no knowledge base without a cluster')) };
  return {
    services: {
      egress: egress.for(INSTALLATION),
      defaults: withProviderVariables(PARLEY_PROVIDERS, env),
      env,
      tools: { search, mailer: own.mailer, calendar: own.calendar, tokens: own.tokens },
      prices: PARLEY_PRICES,
      clock,
      logger: createLogger({ role: 'test', level: PARLEY_LOG_LEVEL }),
    },
    judge: PARLEY_TEST_JUDGE,
    close() {
      egress.close();
      own.close();
    },
  };
}
