/** Services that the tools of all calls share: the operator's mail servers and calendar, and access tokens. */
import { createEgress, INSTALLATION } from '../../platform/egress/egress.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Clock } from '../../platform/clock.ts';
import { parseSmtpServers } from '../../platform/config/smtp-servers.ts';
import { OAuthTokens } from '../../calls/mcp-client/oauth-tokens.ts';
import { createCalCom } from './calendar/cal-com.ts';
import type { Calendar } from './calendar/calendar.ts';
import type { Mailer } from './mail/mailer.ts';

export interface ToolServices {
  readonly mailer: Mailer;
  readonly calendar: Calendar;
  /** Access tokens for MCP servers. */
  readonly tokens: OAuthTokens;
  close(): void;
}

/** Creates the services. Connects to nothing before it is used. */
export function createToolServices({
  config,
  clock,
}: {
  readonly config: Pick<Config, 'PARLEY_SMTP_SERVERS' | 'PARLEY_CALENDAR_URL'>;
  readonly clock: Clock;
}): ToolServices {
  // The operator chose the address, which may be a service of the cluster: limits apply, address rules don't.
  const http = createEgress({ allowCidrs: ['0.0.0.0/0', '::/0'], allowedPorts: '1-65535', clock });
  const servers = parseSmtpServers(config.PARLEY_SMTP_SERVERS);
  return {
    // The mailer is loaded when used: few calls send mail.
    mailer: { send: async (mail, signal) => (await import('./mail/smtp-mailer.ts')).createSmtpMailer({ servers }).send(mail, signal) },
    calendar: createCalCom({ baseUrl: config.PARLEY_CALENDAR_URL, http: http.for(INSTALLATION) }),
    tokens: new OAuthTokens({ clock }),
    close: () => http.close(),
  };
}
