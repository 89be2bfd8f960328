/** The mail servers and the calendar that the operator has named. */
import { createEgress } from '../../platform/egress/egress.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Clock } from '../../platform/clock.ts';
import { parseSmtpServers } from '../../platform/config/smtp-servers.ts';
import { createCalCom } from './calendar/cal-com.ts';
import type { Calendar } from './calendar/calendar.ts';
import type { Mailer } from './mail/mailer.ts';

export interface ToolServices {
  readonly mailer: Mailer;
  readonly calendar: Calendar;
  close(): void;
}

/** Connects to nothing before it is used. */
export function createToolServices({
  config,
  clock,
}: {
  readonly config: Pick<Config, 'PARLEY_SMTP_SERVERS' | 'PARLEY_CALENDAR_URL'>;
  readonly clock: Clock;
}): ToolServices {
  // The address is the operator's, who may well mean a service of the cluster: the limits of requests hold, and nothing is forbidden.
  const http = createEgress({ allowCidrs: ['0.0.0.0/0', '::/0'], allowedPorts: '1-65535', clock });
  const servers = parseSmtpServers(config.PARLEY_SMTP_SERVERS);
  return {
    // Few calls send mail: the others' processes do without the code for it.
    mailer: { send: async (mail, signal) => (await import('./mail/smtp-mailer.ts')).createSmtpMailer({ servers }).send(mail, signal) },
    calendar: createCalCom({ baseUrl: config.PARLEY_CALENDAR_URL, http }),
    close: () => http.close(),
  };
}
